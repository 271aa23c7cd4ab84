/** How long a recording is when its provider does not say: from its container, else what is charged for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upload } from '../../support/local-service.ts';
import { answers } from '../../support/provider.ts';
import { toneWav } from '../../support/tone-model.ts';
import { EngineError, type CallQueue } from '../../../engines/contract/index.ts';
import { measureDuration } from '../../../engines/hosted-stt/duration.ts';
import { openHosted, recording, recordingMs, type Hosted } from './support.ts';

let hosted: Hosted & AsyncDisposable;
beforeAll(async () => {
  hosted = await openHosted();
});
afterAll(() => hosted[Symbol.asyncDispose]());

/** The duration in our response for this response of the provider. */
async function durationOf(bytes: Uint8Array, answer: object = {}): Promise<unknown> {
  hosted.provider.behave(answers(200, { text: 'ok', ...answer }));
  return ((await hosted.transcribe({}, bytes)).body as { duration_ms?: unknown }).duration_ms;
}

describe('a duration', () => {
  const usage = { type: 'duration', seconds: 60 };
  /** Has the first bytes of a webm file, and nothing else. */
  const rubbish = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), Buffer.alloc(5_000, 7)]);

  test('is taken from the provider first', async () => {
    expect(await durationOf(recording, { duration: 5, usage })).toBe(5_000);
  });

  test('is taken from the container next', async () => {
    expect(await durationOf(recording, { usage })).toBe(recordingMs);
  });

  test('falls back to the billed duration', async () => {
    expect(await durationOf(rubbish, { usage })).toBe(60_000);
  });

  test('of the provider is ignored where the bytes cannot hold it', async () => {
    expect(await durationOf(recording, { duration: 3_602, usage })).toBe(recordingMs);
    expect(await durationOf(rubbish, { duration: 3_602 })).toBeUndefined();
  });

  test('of a BW64 is read', async () => {
    const sizes = Buffer.alloc(36);
    sizes.write('ds64');
    sizes.writeUInt32LE(28, 4);
    sizes.writeBigUInt64LE(32_000n, 16);
    const plain = toneWav({ words: [], rate: 16_000, tailSeconds: 0.5 });
    const bytes = Buffer.concat([plain.subarray(0, 12), sizes, plain.subarray(12)]);
    bytes.write('BW64');
    bytes.writeUInt32LE(0xffff_ffff, 76);
    expect(await durationOf(bytes)).toBe(1_000);
  });

  test('is left out when it is unknown', async () => {
    expect(await durationOf(rubbish)).toBeUndefined();
  });

  test('is measured during the upload if the last response had none, and the measurement is canceled when the call fails', async () => {
    expect(await durationOf(recording)).toBe(recordingMs);
    hosted.provider.behave(answers(500, ''));
    expect((await hosted.transcribe()).problem.code).toBe('provider-error');
    expect(await durationOf(recording, { duration: 5 })).toBe(5_000);
    expect(await durationOf(recording)).toBe(recordingMs);
  });

  test('measurement does not delay a canceled call', async () => {
    await durationOf(recording);
    const caller = new AbortController();
    hosted.provider.behave(() => caller.abort());
    const before = hosted.provider.calls.length;
    await expect(upload(hosted.service, recording, { signal: caller.signal })).rejects.toThrow();
    await hosted.provider.calls[before]!.gone;
    await expect.poll(() => hosted.service.leftovers()).toEqual([]);
  });

  test('is measured for the largest recording too', async () => {
    const wav = toneWav({ words: [], rate: 48_000, channels: 2, tailSeconds: 136 });
    expect(wav.length).toBeGreaterThan(26_000_000);
    expect(await durationOf(wav)).toBe(Math.round((wav.length - 44) / 192));
  });

  test('is left out when the queue is full, but rejects after an abort', async () => {
    const queue: CallQueue = {
      full: false,
      run: () => Promise.reject(new EngineError('overloaded', 'All places are taken.')),
    };
    const nothing = { path: '/nothing', bytes: 0, container: 'wav', mediaType: 'audio/wav' } as const;
    const measure = (signal: AbortSignal) => measureDuration(nothing, queue, signal);
    expect(await measure(new AbortController().signal)).toBeUndefined();
    await expect(measure(AbortSignal.abort())).rejects.toMatchObject({ code: 'overloaded' });
  });
});
