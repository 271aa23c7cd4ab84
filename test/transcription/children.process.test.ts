/** whisper-cli as it should not be: each failure is a clean problem for the caller and a line with the cause in the log. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upload } from '../support/local-service.ts';
import { programsOf, startMisbehavingService } from '../support/misbehaving.ts';
import type { TestService } from '../support/service.ts';
import { toneWav } from '../support/tone-model.ts';
import { startTracer } from '../support/tracer.ts';

const recording = toneWav({ words: ['alpha'], rate: 8_000 }); // at 16 kHz, it would need no decoder

const failures = {
  killed: 'signal SIGKILL',
  fails: 'exit code 3',
  'no-json': 'no usable JSON',
  garbage: 'no usable JSON',
  'other-shape': 'no usable JSON',
} as const;

const successes = {
  controls: { text: 'one two three four', language: 'en' },
  'cut-character': { text: 'gr�', language: 'de' },
  floods: { text: 'flooded', language: 'en' },
  javanese: { text: 'sugeng enjing', language: 'jv' },
  cantonese: { text: 'jou san', language: null },
  blank: { text: '', language: null },
} as const;

describe('a whisper-cli', () => {
  let service: TestService;
  beforeAll(async () => {
    const behaviors = [...Object.keys(failures), ...Object.keys(successes), 'arguments', 'environment'];
    service = await startMisbehavingService({
      behaviors,
      env: { OPENAI_API_KEY: 'sk-secret' },
      engine: 'slots: 1, threads: 3',
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const transcribe = (model: string, fields = {}) => upload(service, recording, { fields: { model, ...fields } });

  test.each(Object.entries(failures))(
    'that is bad (%s) is an engine-failed whose cause only the log tells: %s',
    async (model, cause) => {
      const response = await transcribe(model);
      const answer = await response.text();
      expect(response.status).toBe(500);
      const problem = JSON.parse(answer) as { code: string; instance: string };
      expect(problem.code).toBe('engine-failed');
      expect(answer).not.toMatch(/secret|json|signal|exit/i);
      const line = service.log.find(({ id, msg }) => id === problem.instance && msg === 'a request failed');
      expect(JSON.stringify(line)).toContain(cause);
    },
  );

  test('is a span of its request, whose ids its log lines have', async () => {
    const { spans } = startTracer();
    const response = await transcribe('fails');
    const id = response.headers.get('x-request-id');
    await response.body?.cancel();
    const trace_id = id?.replaceAll('-', '');
    expect(service.log.find(({ msg, ...line }) => line.id === id && msg === 'a request failed')).toMatchObject({
      trace_id,
    });
    const children = spans.filter(({ kind }) => kind === 'internal');
    expect(children.map(({ name, attributes }) => [name, attributes['process.exit.code']])).toEqual([
      ['run ffmpeg', 0],
      ['run whisper-cli.mjs', 3],
    ]);
    expect(children[0]?.trace.traceId).toBe(trace_id);
  });

  test.each(Object.entries(successes))('may write strange JSON: %s', async (model, expected) => {
    const response = await transcribe(model);
    expect({ status: response.status, answer: await response.json() }).toMatchObject({
      status: 200,
      answer: { ...expected, model },
    });
  });

  test('is told to detect the language, instead of its default (English)', async () => {
    const { text } = (await (await transcribe('arguments')).json()) as { text: string };
    expect(text).toMatch(/^-np -m \S+\/arguments\.bin -l auto -t 3 -oj -of \S+\/out -f \S+\/[\w-]+\.decoded\.wav$/);
    const hinted = (await (await transcribe('arguments', { language: 'jv' })).json()) as { text: string };
    expect(hinted.text).toContain('-l jw ');
  });

  test('receives the VAD model if configured', async () => {
    await using service = await startMisbehavingService({
      behaviors: ['arguments'],
      model: `vad: ${process.execPath}`,
    });
    const { text } = (await (await upload(service, recording)).json()) as { text: string };
    expect(text).toContain(` --vad -vm ${process.execPath} `);
  });

  test('inherits no API keys', async () => {
    const { text } = (await (await transcribe('environment')).json()) as { text: string };
    expect(text).toContain('PATH');
    expect(text).not.toMatch(/KEY|OPENAI|WHISPER/);
  });

  test('leaves no process and no file', async () => {
    await expect.poll(() => programsOf(service)).toEqual([]);
    await expect.poll(() => service.leftovers()).toEqual([]);
  });
});
