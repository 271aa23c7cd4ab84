import { describe, expect, test } from 'vitest';
import { readRefusal } from '../../../../engines/lib/provider/failures.ts';
import { complaintOf, createRedactor, outlineOf, quoteProvider } from '../../../../engines/lib/provider/redact.ts';

test.each([
  ['a configured API key', 'bad key abcdef', 'bad key [key]'],
  ['a configured header', 'bad header Basic dXNlcjpw', 'bad header [key]'],
  ['a header without its scheme', 'bad credentials "dXNlcjpw"', 'bad credentials "[key]"'],
  ['text that looks like a key', 'not sk-4711abcd', 'not [key]'],
  ['a partly masked key', 'not sk-ab12****wxyz', 'not [key]'],
])('%s is redacted', (_what, text, expected) => {
  expect(createRedactor(['abcdef', 'Basic dXNlcjpw'])(text)).toBe(expected);
});

test('ordinary words and short secrets are kept, and any text is truncated', () => {
  const redact = createRedactor(['', 'on', 'x y']);
  expect(redact('the token was on the monitor')).toBe('the token was on the monitor');
  expect(redact('x'.repeat(3000))).toHaveLength(2000);
});

test('a secret at the point of truncation is not partly visible', () => {
  const redact = createRedactor(['abcdefgh']);
  for (let blanks = 3_980; blanks < 4_001; blanks += 1) {
    const text = `${'abcdefgh'.repeat(400)}${' '.repeat(blanks - 3_200)}abcdefgh and more`;
    expect(redact(text)).not.toContain('abc');
  }
});

test('only a bounded part of a long text is examined', () => {
  const before = process.threadCpuUsage();
  expect(createRedactor([])('sk-'.repeat(70_000))).toHaveLength(2000);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000, 'ms; all of it took 17 s').toBeLessThan(1_500);
});

describe('of an error response, the log has', () => {
  test.each([
    ['plain text', 'upstream connect error', 'upstream connect error'],
    [
      'the fields of OpenAI’s errors',
      '{"error":{"message":"No.","code":"x"},"id":"said"}',
      '{"error":{"message":"No.","code":"x"}}',
    ],
    [
      'no echo of FastAPI',
      '{"detail":[{"loc":["body",0],"msg":"No.","input":"said"}]}',
      '{"detail":[{"loc":["body",0],"msg":"No."}]}',
    ],
    ['no text in a message of another kind', '{"message":{"content":"said"}}', '{"message":{}}'],
    ['nothing of JSON that was cut', '{"input":"said', 'no JSON, 14 characters'],
    ['a list', '[{"error":"No."},{"text":"said"}]', '[{"error":"No."},{}]'],
  ])('%s', (_what, text, expected) => expect(complaintOf(text)).toBe(expected));
});

describe('of an answer that cannot be used, the log has', () => {
  test.each([
    ['its length', 'said in plain words', 'no JSON, 19 characters'],
    ['that it is a page', '\n<!DOCTYPE html><p>said', 'HTML, 23 characters'],
    ['an error, if it is one', '{"error":"No.","text":"said"}', '{"error":"No."}'],
    ['nothing else of JSON', '{"text":"said","segments":[{"text":"said"}]}', '{}'],
  ])('%s', (_what, text, expected) => expect(outlineOf(text)).toBe(expected));
});

describe('the operator reads of a refusal', () => {
  const said = (text: string) => quoteProvider(readRefusal(400, text, undefined), createRedactor(['abcdef']));

  test.each([
    ['its message', '{"error":{"message":"No."}}', 'No.'],
    ['its error, as Ollama sends it', '{"error":"model not found"}', 'model not found'],
    ['the fields of errors of another kind', '{"errors":[{"msg":"No."}],"text":"x"}', '{"errors":[{"msg":"No."}]}'],
    ['plain text on one line, without control characters', 'No,\u0000\r\n\u001b[31mnever\u202e!', 'No, [31mnever !'],
    ['no configured key', 'bad key abcdef', 'bad key [key]'],
    ['no word like a token', 'of user 0123456789-qwertz-0123', 'of user [key]'],
    ['the beginning of a long text', 'no '.repeat(350_000), `${'no '.repeat(99)}no…`],
  ])('%s', (_what, text, expected) => expect(said(text)).toBe(`The provider said: "${expected}".`));

  test.each([
    ['the path', 'Unknown URL: GET /v1/chat/completions/models', 'Unknown URL: GET /v1/chat/completions/models'],
    ['a part', 'no http://127.0.0.1:9702/v1/chat/completions', 'no http://127.0.0.1:9702/v1/chat/completions'],
    ['a key in it, but no more', 'no /v1/0123456789-qwertz-0123/models', 'no [key]'],
    ['another path', 'no /v1/chat/completions2/models/of', 'no [key]'],
  ])('with %s of the request', (_what, message, expected) => {
    const url = 'http://127.0.0.1:9702/v1/chat/completions/models?of=/v1/0123456789-qwertz-0123/models';
    expect(quoteProvider({ message, complaint: message }, createRedactor([]), url)).toBe(
      `The provider said: "${expected}".`,
    );
  });

  test.each([
    ['of XML', '<Error><Message>said'],
    ['of JSON that was cut', '{"input":"said'],
    ['of JSON without an error', '{"input":"said"}'],
    ['of nothing', ''],
  ])('nothing %s', (_what, text) => expect(said(text)).toBeUndefined());

  test('that it is a page, without its text', () => {
    for (const start of ['', '\ufeff\n', '<?xml version="1.0"?><!DOCTYPE html>', '<!-- nginx -->\n']) {
      expect(said(`${start}<html><p>said`)).toBe('The provider answered with an HTML page.');
    }
  });
});
