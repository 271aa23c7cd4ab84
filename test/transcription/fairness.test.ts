/** Callers share a full engine: one with many uploads does not keep out another with few. */
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { startTestService, type TestService } from '../support/service.ts';

const patience = { timeout: 30_000 };

/** Two slots and 16 places; its jobs end once there is a file named `finish`. */
const engine = `
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export default {
  contract: 1,
  name: 'gated',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create(options, context) {
    const queue = context.queue({ slots: 2, waiting: 16 });
    const job = async (signal) => {
      while (!existsSync(context.resolve('finish'))) await wait(10, undefined, { signal });
      return { text: 'at last', language: null };
    };
    return {
      models: [{ id: 'gated', local: true }],
      transcribe: (_call, { signal }) => queue.run(() => job(signal), { signal }),
    };
  },
};
`;

interface Caller {
  readonly localAddress?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: /api/v1/transcribe. */
  readonly path?: string;
}

interface Outcome {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: unknown;
}

const body = multipart(recording);

/** Sends that many uploads at once; the outcomes are added as the answers come. */
function uploadAll({ url }: TestService, count: number, caller: Caller): Outcome[] {
  const { localAddress, headers = {}, path = '/api/v1/transcribe' } = caller;
  const outcomes: Outcome[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const upload = request(url + path, {
      method: 'POST',
      agent: false,
      headers: { ...multipartType, ...headers, 'content-length': body.length },
      ...(localAddress !== undefined && { localAddress }),
    });
    upload.once('response', (answer) => {
      const { statusCode: status = 0, headers } = answer;
      const note = (found: unknown) => outcomes.push({ status, retryAfter: headers['retry-after'], body: found });
      json(answer).then(note, note);
    });
    upload.once('error', (error) => outcomes.push({ status: 0, retryAfter: undefined, body: error }));
    upload.end(body);
  }
  return outcomes;
}

async function expectFairness(env: Readonly<Record<string, string>>, greedy: Caller, quiet: Caller): Promise<void> {
  const config = 'engines: { gated: { use: ./gated.mjs } }\n';
  const service = await startTestService({ config, files: { 'gated.mjs': engine }, env, streamHoldMs: 60_000 });
  onTestFinished(() => service[Symbol.asyncDispose]());

  const ofGreedy = uploadAll(service, 40, greedy);
  await expect.poll(() => ofGreedy.length, patience).toBe(22);
  const ofQuiet = uploadAll(service, 5, quiet);
  await expect.poll(() => ofGreedy.length + ofQuiet.length, patience).toBe(27);
  await writeFile(join(service.dir, 'finish'), '');
  await expect.poll(() => ofGreedy.length + ofQuiet.length, patience).toBe(45);

  expect(ofQuiet.map(({ status }) => status)).toEqual(Array(5).fill(200));
  const refused = ofGreedy.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(27);
  for (const { status, body, retryAfter } of refused) {
    const isOpenAI = greedy.path?.startsWith('/v1/') === true;
    const code = { code: 'overloaded' };
    expect({ status, body }).toMatchObject({ status: 503, body: isOpenAI ? { error: code } : code });
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
  }
}

const withKey = (key: string): Caller => ({ headers: { authorization: `Bearer ${key}` } });

describe('five uploads of one caller are transcribed beside forty of another', () => {
  // Other systems have no addresses of the loopback network but 127.0.0.1.
  test.runIf(process.platform === 'linux')('by address, in open mode', async () => {
    await expectFairness({}, { localAddress: '127.0.0.1' }, { localAddress: '127.0.0.2' });
  });

  test('by key, from one address', async () => {
    await expectFairness({ API_KEYS: 'a-greedy-key,a-quiet-key' }, withKey('a-greedy-key'), withKey('a-quiet-key'));
  });

  test.each([
    ['the greedy one streams', { path: '/api/v1/transcribe/stream' }, {}],
    ['the quiet one streams', {}, { path: '/api/v1/transcribe/stream' }],
    ['the greedy one comes through the other API', { path: '/v1/audio/transcriptions' }, {}],
    ['the quiet one comes through the other API', {}, { path: '/v1/audio/transcriptions' }],
    ['both do', { path: '/v1/audio/transcriptions' }, { path: '/v1/audio/transcriptions' }],
  ])('when %s', async (_who, ofGreedy: Partial<Caller>, ofQuiet: Partial<Caller>) => {
    const greedy = { ...withKey('a-greedy-key'), ...ofGreedy };
    await expectFairness({ API_KEYS: 'a-greedy-key,a-quiet-key' }, greedy, { ...withKey('a-quiet-key'), ...ofQuiet });
  });
});
