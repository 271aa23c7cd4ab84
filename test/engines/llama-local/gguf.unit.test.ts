/** Model files are judged before they are loaded. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readGgufFile } from '../../../engines/llama-local/gguf.ts';
import { makeChatModel } from '../../support/chat-model.ts';
import { ggufFile, plainTensor, type GgufValue } from '../../support/gguf-writer.ts';

const directory = mkdtempSync(join(tmpdir(), 'parlance-gguf-'));
afterAll(() => rmSync(directory, { recursive: true }));

function judge(bytes: Uint8Array) {
  const path = join(directory, 'model.gguf');
  writeFileSync(path, bytes);
  return readGgufFile(path);
}

const tensor = plainTensor('a', [4], new Float32Array(4));
const file = (metadata: Readonly<Record<string, GgufValue>>) => ggufFile(metadata, [tensor]);

describe('a whole file', () => {
  test('says what it needs', () => {
    const model = makeChatModel(2_048);
    expect(judge(model)).toEqual({ bytes: model.length, cacheBytes: 4 * 256, contextLength: 2_048 });
  });

  test('whose makers grouped the heads needs less', () => {
    const shape = { block_count: 28, embedding_length: 1_024, 'attention.head_count': 16, 'attention.head_count_kv': 8, 'attention.key_length': 128 }; // prettier-ignore
    const named = Object.fromEntries(Object.entries(shape).map(([key, value]) => [`qwen3.${key}`, value]));
    const weights = plainTensor('a', [8_192], new Float32Array(8_192));
    const model = ggufFile({ 'general.architecture': 'qwen3', ...named }, [weights]);
    expect(judge(model).cacheBytes).toBe(112 * 1_024);
  });

  test('may say nothing of itself', () => {
    expect(judge(file({ __proto__x: 'a', constructor: 'b' }))).toMatchObject({
      cacheBytes: 0,
      contextLength: undefined,
    });
  });
});

describe('is refused', () => {
  const whole = makeChatModel();

  test('wherever it is cut', () => {
    const ends = [0, 3, 4, 23, 24, 100, 5_000, 60_000, whole.length - 40];
    for (const end of ends) expect(() => judge(whole.subarray(0, end)), String(end)).toThrow(/is cut|not a GGUF model/);
  });

  test.each([
    ['another file', Buffer.from('RIFF'.padEnd(100, '\0'))],
    ['another version', Buffer.concat([Buffer.from('GGUF'), Buffer.from([2, 0, 0, 0]), Buffer.alloc(100)])],
    ['a header of zeros', Buffer.alloc(1_000)],
    ['without tensors', ggufFile({ a: 'b' }, [])],
    ['counts that no model has', Buffer.concat([whole.subarray(0, 8), Buffer.alloc(16, 255), whole.subarray(24)])],
  ])('%s', (_what, bytes) => {
    expect(() => judge(bytes)).toThrow(/^it (is|its)|^its GGUF version/);
  });

  test.each([
    { block_count: 1_000_000, embedding_length: 64, 'attention.head_count': 1 },
    { block_count: 1, embedding_length: 64, 'attention.head_count': 1, 'attention.key_length': 2 ** 31 },
    { block_count: 1, embedding_length: 64, 'attention.head_count': 1, 'attention.head_count_kv': 2 ** 31 },
  ])('with numbers for which it is too small: %j', (shape) => {
    const named = Object.fromEntries(Object.entries(shape).map(([key, value]) => [`llama.${key}`, value]));
    const model = file({ 'general.architecture': 'llama', ...named });
    expect(() => judge(model)).toThrow('it is smaller than its numbers of heads and layers say');
  });

  test('when it is no file, without waiting for a writer', () => {
    expect(() => readGgufFile(directory)).toThrow('not a regular file');
    expect(() => readGgufFile('/dev/zero')).toThrow('not a regular file');
  });

  test.each([
    ['lists of texts that no vocabulary has', [8, 3_000_000], 'lists that are too long'],
    ['a list that would fill the disk', [10, 100_000_000], 'metadata is too long'],
  ])('a sparse file with %s, before it is read', (_what, [type, count], message) => {
    const path = join(directory, 'sparse.gguf');
    const integers = (...values: readonly number[]) => Buffer.from(new BigUint64Array(values.map(BigInt)).buffer);
    const types = Buffer.from(new Uint32Array([9, type!]).buffer);
    const entry = [integers(1), Buffer.from('a'), types, integers(count!)];
    writeFileSync(path, Buffer.concat([Buffer.from('GGUF'), Buffer.from([3, 0, 0, 0]), integers(1, 1), ...entry]));
    truncateSync(path, 2 ** 30);
    expect(() => readGgufFile(path)).toThrow(message);
  });
});
