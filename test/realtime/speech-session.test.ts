/** A session's sound becomes turns and transcripts, whatever the pieces, the engine and the client do. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, describe, vi } from 'vitest';
import {
  EngineError,
  type TimedText,
  type Transcript,
  type TranscriptionCall,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { ProblemError } from '../../src/contract/problems.ts';
import { readWav } from '../../lib/wav.ts';
import { createPrometheusMetrics } from '../../src/metrics/prometheus.ts';
import type { SoundFormat } from '../../src/realtime/speech-session.ts';
import type { Used } from '../../src/request-scope.ts';
import { byHand, openSpeech, quiet, sound, told, usual, voice, type OpenedSpeech } from './support.ts';

const rate = 24_000;
const utterance = (ms = 1_000) => sound(rate, [quiet, 1_000], [voice, ms], [quiet, 700]);
const two = Buffer.concat([utterance(), utterance(600)]);
const toldOfTwo = [
  ...['1 started 700', '1 stopped 2500', '1 committed', '2 started 3400', '2 stopped 4800', '2 committed'],
];

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

describe('the same turns, at the same times, of a file', () => {
  it.each([
    ['in one piece', two.length],
    ['in pieces of 20 ms', 960],
    ['in odd pieces', 1_237],
    ['in pieces of a byte and a half second', 24_001],
  ])('sent %s', async (_what, size) => {
    const { speech, events, ended } = await openSpeech();
    for (const piece of pieces(two, size)) await speech.append(piece);
    await ended(2);
    const all = told(events);
    expect(all.filter((event) => !/delta|completed/.test(event))).toEqual(toldOfTwo);
    expect(all).toEqual(
      expect.arrayContaining(['1 delta 1800', '1 completed 1800', '2 delta 1400', '2 completed 1400']),
    );
    expect(events.find(({ type }) => type === 'completed')).toMatchObject({ seconds: 1.8, languages: ['en'] });
  });

  it.each<[string, SoundFormat]>([
    ['8 kHz', { encoding: 'pcm', rate: 8_000 }],
    ['16 kHz', { encoding: 'pcm', rate: 16_000 }],
    ['48 kHz', { encoding: 'pcm', rate: 48_000 }],
  ])('at %s', async (_what, format) => {
    const { speech, events, ended } = await openSpeech({}, { options: { ...usual, format } });
    await speech.append(sound('rate' in format ? format.rate : 8_000, [quiet, 1_000], [voice, 1_000], [quiet, 700]));
    await ended(1);
    expect(told(events)).toEqual([
      '1 started 700',
      '1 stopped 2500',
      '1 committed',
      '1 delta 1800',
      '1 completed 1800',
    ]);
  });
});

describe('the recording of a turn', () => {
  it.each<[string, SoundFormat, (samples: Buffer) => Buffer]>([
    ['pcm', { encoding: 'pcm', rate: 8_000 }, (samples) => samples],
    ['mu-law', { encoding: 'pcmu' }, (samples) => Buffer.from(samples.filter((_, i) => i % 2 === 1).map(toMuLaw))],
  ])('has the sound of the turn, from %s', async (_what, format, encode) => {
    let peaks: number[] = [];
    const transcribe = async ({ recording }: { recording: { path: string } }) => {
      const wav = await readWav(createReadStream(recording.path));
      const samples: number[] = [];
      for await (const block of wav!.samples) samples.push(...block);
      peaks = Array.from({ length: samples.length / 1_600 }, (_, i) =>
        Math.max(...samples.slice(1_600 * i, 1_600 * (i + 1))),
      );
      return { text: 'transcribed', language: null };
    };
    const { speech, ended } = await openSpeech({ transcribe }, { options: { ...byHand, format } });
    await speech.append(encode(sound(8_000, [-120, 200], [-9, 300], [-120, 200])));
    await speech.commit();
    await ended(1);
    const isLoud = peaks.map((peak) => peak > 8_000);
    expect(isLoud).toEqual([false, false, true, true, true, false, false]);
  });
});

/** Only loud and silent. */
const toMuLaw = (high: number): number => (high === 0 || high === 255 ? 0xff : high < 128 ? 0x90 : 0x10);

describe('a commit of the client', () => {
  it('is all sound since the last one, to the last sample', async () => {
    const { speech, events, ended } = await openSpeech({}, { options: byHand });
    expect(await speech.commit()).toBe(false);
    await speech.append(sound(rate, [quiet, 95]));
    expect(await speech.commit()).toBe(false);
    await speech.append(sound(rate, [quiet, 20]));
    expect(await speech.commit()).toBe(true);
    await speech.append(Buffer.alloc(3_001));
    await speech.append(Buffer.alloc(1_800));
    expect(await speech.commit()).toBe(true);
    await ended(2);
    const seconds = events.flatMap((event) => (event.type === 'completed' ? [event.seconds] : []));
    expect(seconds.toSorted()).toEqual([0.1, 0.115]); // the second transcript may come first
  });

  it('is the end of a turn when the audio is cleared: the promise resolves after its last event', async () => {
    const { speech, events } = await openSpeech();
    await speech.append(sound(rate, [quiet, 1_000], [voice, 1_000]));
    await speech.clear();
    expect(told(events)).toEqual(['1 started 700', '1 forgotten']);
  });

  it('after a clear has only what follows', async () => {
    const { speech, events, ended } = await openSpeech({}, { options: byHand });
    await speech.append(sound(rate, [voice, 1_000]));
    void speech.clear();
    await speech.append(sound(rate, [voice, 500]));
    await speech.commit();
    await ended(1);
    expect(told(events)).toEqual([
      ...['1 voice', '1 forgotten'],
      ...['2 voice', '2 committed', '2 delta 500', '2 completed 500'],
    ]);
  });

  it('ends an open turn, which is committed once', async () => {
    const { speech, events, ended } = await openSpeech();
    await speech.append(sound(rate, [quiet, 1_000], [voice, 500]));
    expect(await speech.commit()).toBe(true);
    expect(await speech.commit()).toBe(false);
    await ended(1);
    expect(told(events)).toEqual(['1 started 700', '1 stopped 1500', '1 committed', '1 delta 800', '1 completed 800']);
  });

  it('of more than ten minutes has ten, and the caller learns it once', async () => {
    const { speech, events, ended } = await openSpeech({}, { options: { ...byHand, format: { encoding: 'pcmu' } } });
    const minutes = Buffer.alloc(8_000 * 60 * 6);
    expect([await speech.append(minutes), await speech.append(minutes)]).toEqual([true, false]);
    expect(await speech.append(Buffer.alloc(8_000))).toBe(true);
    expect(await speech.commit()).toBe(true);
    await ended(1);
    expect(told(events).at(-1)).toBe('1 completed 600000');
  });
});

describe('sound before the first options', () => {
  const words = sound(16_000, [voice, 1_000], [quiet, 700], [voice, 300]);

  it('is handled with them', async () => {
    const { speech, events, ended } = await openSpeech({}, { isNew: true });
    await speech.append(words);
    speech.configure({ ...byHand, format: { encoding: 'pcm', rate: 16_000 } });
    expect(await speech.commit()).toBe(true);
    await ended(1);
    expect(told(events)).toEqual(['1 voice', '1 committed', '1 delta 2000', '1 completed 2000']);
  });

  it.each<[string, (speech: OpenedSpeech) => unknown]>([
    ['a commit comes first', (speech) => speech.commit()],
    ['none come', () => undefined],
    ['it is too much', (speech) => speech.append(Buffer.alloc(1_048_576))],
  ])('is handled as the session was opened if %s', async (_what, meanwhile) => {
    const { speech, events, ended } = await openSpeech(
      {},
      { isNew: true, options: { ...usual, format: { encoding: 'pcm', rate: 16_000 } } },
    );
    await speech.append(words);
    await meanwhile(speech);
    await ended(1);
    expect(told(events).slice(0, 3)).toEqual(['1 started 0', '1 stopped 1500', '1 committed']);
  });
});

describe('a format that changes', () => {
  it('in the middle of a turn counts for the sound that follows', async () => {
    const { speech, events, ended } = await openSpeech({}, { options: byHand });
    await speech.append(sound(24_000, [voice, 400]));
    speech.configure({ ...byHand, format: { encoding: 'pcmu' } });
    await speech.append(Buffer.alloc(8 * 300));
    await speech.commit();
    await ended(1);
    expect(told(events).at(-1)).toBe('1 completed 700');
  });
});

it('a turn ends when no more sound comes', async () => {
  const { speech, events, ended } = await openSpeech(
    {},
    { options: { ...usual, detection: { ...usual.detection!, silenceMs: 100 } } },
  );
  await speech.append(sound(rate, [quiet, 1_000], [voice, 500]));
  await ended(1);
  expect(told(events)).toEqual(['1 started 700', '1 stopped 1500', '1 committed', '1 delta 800', '1 completed 800']);
});

describe('a transcript', () => {
  const segment = (text: string): TimedText => ({ startMs: 0, endMs: 1, text });
  /** Whether the call is for the first turn of `two`. It may come second. */
  const isFirst = ({ recording }: TranscriptionCall) => recording.slice?.endMs === 1_800;

  it('has a delta for each segment, together the transcript', async () => {
    const transcribe = (_call: unknown, { onSegment }: TranscriptionOptions) => {
      for (const text of ['Good morning.', 'It is']) onSegment?.(segment(text));
      return Promise.resolve({ text: 'Good morning. It is late.', language: 'en' });
    };
    const { speech, events, ended } = await openSpeech({ transcribe, entry: { supports: ['segment'] } });
    await speech.append(utterance());
    await ended(1);
    expect(told(events).slice(3)).toEqual(['1 delta Good morning.', '1 delta  It is', '1 delta  late.', '1 completed Good morning. It is late.']); // prettier-ignore
  });

  it('that fails ends its turn, and the next one is transcribed', async () => {
    const failure = new EngineError('engine-failed', 'It broke.');
    const transcribe = (call: TranscriptionCall) =>
      isFirst(call) ? Promise.reject(failure) : Promise.resolve({ text: 'transcribed', language: null });
    const { speech, events, ended } = await openSpeech({ transcribe });
    await speech.append(two);
    await ended(2);
    expect(events.find(({ type }) => type === 'failed')).toMatchObject({ error: failure });
    expect(told(events)).toContain('2 completed transcribed');
  });

  it('may come before the one of the turn before it', async () => {
    const first = Promise.withResolvers<{ text: string; language: null }>();
    const transcribe = (call: TranscriptionCall) =>
      isFirst(call) ? first.promise : Promise.resolve({ text: 'second', language: null });
    const { speech, events, ended } = await openSpeech({ transcribe });
    await speech.append(two);
    await ended(1);
    first.resolve({ text: 'first', language: null });
    await ended(2);
    expect(told(events).filter((event) => event.includes('completed'))).toEqual(['2 completed second', '1 completed first']); // prettier-ignore
  });

  it('is one of 16 at most that are running; further sound waits', async () => {
    const { calls, engine } = byTest();
    const { speech, ended } = await openSpeech(engine, { options: byHand });
    for (let turn = 0; turn < 20; turn += 1) {
      void speech.append(sound(rate, [voice, 200]));
      void speech.commit();
    }
    for (let turn = 0; turn < 20; turn += 1) {
      await expect.poll(() => calls.length).toBe(Math.min(20, 16 + turn));
      calls[turn]!.end();
    }
    await ended(20);
  });

  it('of a click is empty, without a call', async () => {
    const transcribe = vi.fn();
    const { speech, events, ended } = await openSpeech({ transcribe });
    await speech.append(utterance(200));
    await ended(1);
    expect(told(events).at(-1)).toBe('1 completed ');
    expect(transcribe).not.toHaveBeenCalled();
  });

  it('is refused where the key has no budget', async () => {
    const problem = new ProblemError('quota-exceeded', 'Spent.');
    const { speech, events, ended } = await openSpeech({}, { services: { allowTurn: () => Promise.reject(problem) } });
    await speech.append(utterance());
    await ended(1);
    expect(events.at(-1)).toMatchObject({ type: 'failed', error: problem });
  });

  it('is refused where the disk is full, and the session continues', async () => {
    const { speech, events, ended } = await openSpeech({}, { options: byHand, diskBytes: 1_000_000 });
    for (let second = 0; second < 60; second++) await speech.append(sound(rate, [voice, 1_000]));
    await speech.commit();
    await ended(1);
    expect(events.at(-1)).toMatchObject({ type: 'failed', error: { code: 'storage-full' } });
    await speech.append(sound(rate, [voice, 1_000]));
    await speech.commit();
    await ended(2);
    expect(told(events).at(-1)).toBe('2 completed 1000');
  });
});

function charging() {
  const charged: Used[] = [];
  return { charged, scope: { caller: 'a', charge: (used: Used) => void charged.push(used) } };
}

describe('a turn is charged', () => {
  it('once, with the pauses that are in it', async () => {
    const { charged, scope } = charging();
    const { speech, events, ended } = await openSpeech({}, { scope });
    const words = Array.from({ length: 4 }, () => sound(rate, [voice, 400], [quiet, 300]));
    for (let turn = 1; turn <= 2; turn++) {
      await speech.append(Buffer.concat([sound(rate, [quiet, 1_000]), ...words, sound(rate, [quiet, 400])]));
      await ended(turn);
    }
    expect(told(events).filter((event) => event.includes('committed'))).toEqual(['1 committed', '2 committed']);
    expect(charged).toEqual([{ audioMs: 3_300 }, { audioMs: 3_300 }]);
  });
});

describe('sound beside the turns', () => {
  it('is transcribed with the events and the charge of a turn, to the last sample', async () => {
    const { charged, scope } = charging();
    const { speech, events, ended, diskUse } = await openSpeech({}, { scope });
    await speech.append(sound(rate, [quiet, 1_000], [voice, 400]));
    await speech.transcribe('mine', sound(rate, [voice, 2_105]));
    await ended(1);
    expect(events.filter(({ turn }) => turn === 'mine')).toEqual([
      { turn: 'mine', type: 'delta', text: '2105' },
      { turn: 'mine', type: 'completed', transcript: '2105', seconds: 2.105, languages: ['en'] },
    ]);
    expect(charged).toEqual([{ audioMs: 2_105 }]);
    await speech.append(sound(rate, [quiet, 700]));
    await ended(2);
    await expect.poll(diskUse).toBe(0);
    expect(told(events).at(-1)).toBe('1 completed 1200');
  });

  it('of less than 100 ms has an empty transcript', async () => {
    const { speech, events, ended } = await openSpeech();
    await speech.transcribe('short', sound(rate, [voice, 80]));
    await speech.transcribe('none', new Uint8Array(1));
    await ended(2);
    expect(told(events)).toEqual(['1 completed ', '2 completed ']);
  });

  it('fails where the key has no budget or the disk is full', async () => {
    const problem = new ProblemError('quota-exceeded', 'Spent.');
    const services = { allowTurn: () => Promise.reject(problem) };
    const { speech, events, ended, diskUse } = await openSpeech({}, { services, diskBytes: 100_000 });
    await speech.transcribe('spent', sound(rate, [voice, 1_000]));
    await ended(1);
    await speech.transcribe('large', sound(rate, [voice, 60_000]));
    await ended(2);
    expect(events).toMatchObject([
      { turn: 'spent', type: 'failed', error: problem },
      { turn: 'large', type: 'failed', error: { code: 'storage-full' } },
    ]);
    await expect.poll(diskUse).toBe(0);
  });

  it('waits while 16 transcriptions are running', async () => {
    const { calls, engine } = byTest();
    const { speech } = await openSpeech(engine);
    const said = Array.from({ length: 17 }, (_, number) =>
      speech.transcribe(String(number), sound(rate, [voice, 100])),
    );
    await expect.poll(() => calls.length).toBe(16);
    calls[0]!.end();
    await expect.poll(() => calls.length).toBe(17);
    calls[1]!.end();
    await Promise.all(said);
  });
});

/** An engine on this machine, whose transcriptions the test ends. */
function byTest() {
  const calls: {
    readonly end: (text?: string) => void;
    readonly fail: (error: Error) => void;
    readonly signal: AbortSignal;
  }[] = [];
  const transcribe = (_call: unknown, { signal }: TranscriptionOptions) =>
    new Promise<Transcript>((resolve, reject) => {
      calls.push({
        end: (text = 'transcribed') => resolve({ text, language: null, durationMs: 1_000 }),
        fail: reject,
        signal,
      });
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  return { calls, engine: { transcribe, entry: { local: true } } };
}

describe('an early transcription', () => {
  /** Turns end long before a stall of the machine would end them. */
  const options = { ...usual, detection: { ...usual.detection!, silenceMs: 5_000 } };
  const endOfTurn = sound(rate, [quiet, 4_800]);

  /** The clock is stopped, because on a busy machine the model would not be known to be quick. */
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** A session whose model is known to be quick, in its second turn. */
  async function speakQuickly() {
    const { calls, engine } = byTest();
    const { charged, scope } = charging();
    const metrics = createPrometheusMetrics();
    const opened = await openSpeech(engine, { scope, options, services: { metrics } });
    const outcomes = async () => {
      const lines = (await metrics.render()).matchAll(/^parlance_realtime_early_total\{outcome="(\w+)"\} [1-9]/gm);
      return Array.from(lines, ([, outcome]) => outcome);
    };
    await opened.speech.append(sound(rate, [quiet, 1_000], [voice, 400], [quiet, 200]));
    await opened.speech.append(endOfTurn);
    await expect.poll(() => calls.length).toBe(1);
    calls[0]!.end();
    await opened.ended(1);
    expect(charged.splice(0)).toEqual([{ audioMs: 1_000 }]);
    await expect.poll(opened.diskUse).toBe(0);
    await opened.speech.append(sound(rate, [quiet, 500], [voice, 400], [quiet, 200]));
    await expect.poll(() => calls.length).toBe(2);
    return { ...opened, calls, charged, outcomes, said: () => told(opened.events).slice(5) };
  }

  it('is the transcript if the silence lasts, and is charged then', async () => {
    const { calls, charged, speech, said, ended, files, outcomes } = await speakQuickly();
    calls[1]!.end('early');
    await expect.poll(files).toHaveLength(1);
    expect([said(), charged]).toEqual([['2 started 6600', '2 early early'], []]);
    await speech.append(endOfTurn);
    await ended(2);
    const committed = ['2 stopped 12300', '2 committed', '2 delta early', '2 completed early'];
    expect(said().slice(2)).toEqual(committed);
    expect(calls).toHaveLength(2);
    expect(charged).toEqual([{ audioMs: 1_000 }]);
    expect(await outcomes()).toEqual(['used']);
  });

  it('may still be running when the turn ends', async () => {
    const { calls, charged, speech, said, ended } = await speakQuickly();
    await speech.append(endOfTurn);
    calls[1]!.end('late');
    await ended(2);
    expect(said().at(-1)).toBe('2 completed late');
    expect(calls).toHaveLength(2);
    expect(charged).toEqual([{ audioMs: 1_000 }]);
  });

  it('is thrown away if the speech continues: never charged, never seen, and not aborted', async () => {
    const { calls, charged, speech, said, ended, outcomes } = await speakQuickly();
    await speech.append(Buffer.concat([sound(rate, [voice, 400], [quiet, 200]), endOfTurn]));
    await expect.poll(() => calls.length).toBe(3);
    calls[1]!.end('half a sentence');
    calls[2]!.end('the sentence');
    await ended(2);
    expect(calls[1]!.signal.aborted).toBe(false);
    expect(said()).toEqual(['2 started 6600', '2 stopped 12900', '2 committed', '2 delta the sentence', '2 completed the sentence']); // prettier-ignore
    expect(charged).toEqual([{ audioMs: 1_000 }]);
    expect(await outcomes()).toEqual(['discarded']);
  });

  it('is reported at most three times in a turn, and is void when the speech continues', async () => {
    const { calls, speech, said, ended, files } = await speakQuickly();
    for (let pause = 1; pause <= 4; pause += 1) {
      calls.at(-1)!.end(`pause ${pause}`);
      await expect.poll(files).toHaveLength(1);
      await speech.append(sound(rate, [voice, 400], [quiet, 240]));
      await expect.poll(() => calls.length).toBe(2 + pause);
    }
    await speech.append(endOfTurn);
    calls.at(-1)!.end('the end');
    await ended(2);
    const reported = [1, 2, 3].flatMap((pause) => [`2 early pause ${pause}`, '2 resumed']);
    expect(said().slice(1, 7)).toEqual(reported);
    expect(said().slice(8)).toEqual(['2 committed', '2 delta the end', '2 completed the end']);
  });

  it('is not reported in a long turn', async () => {
    const { calls, speech, said, ended, files } = await speakQuickly();
    await speech.append(sound(rate, [voice, 400]));
    calls[1]!.end('half');
    await expect.poll(files).toHaveLength(1);
    await speech.append(sound(rate, [voice, 9_500], [quiet, 240]));
    await expect.poll(() => calls.length).toBe(3);
    calls[2]!.end('whole');
    await expect.poll(files).toHaveLength(1);
    await speech.append(endOfTurn);
    await ended(2);
    expect(said().slice(2)).toEqual(['2 committed', '2 delta whole', '2 completed whole']);
  });

  it('that fails is repeated at the end of the turn', async () => {
    const { calls, charged, speech, said, ended, files, outcomes } = await speakQuickly();
    calls[1]!.fail(new EngineError('engine-failed', 'It broke.'));
    await expect.poll(files).toHaveLength(1);
    await speech.append(endOfTurn);
    await expect.poll(() => calls.length).toBe(3);
    calls[2]!.end('whole');
    await ended(2);
    expect(said().at(-1)).toBe('2 completed whole');
    expect(charged).toEqual([{ audioMs: 1_000 }]);
    expect(await outcomes()).toEqual(['failed']);
  });

  it('is charged if its session ends before its turn', async () => {
    const { calls, charged, speech, files, outcomes } = await speakQuickly();
    calls[1]!.end('half');
    await expect.poll(files).toHaveLength(1);
    await speech.end();
    expect(charged).toEqual([{ audioMs: expect.closeTo(900, -1) as number }]);
    expect(await outcomes()).toEqual(['discarded']);
  });

  it('is charged if its turn is cleared, and so is what several have taken beyond the length of their turn', async () => {
    const { calls, charged, speech, said, files, diskUse } = await speakQuickly();
    calls[1]!.end('half');
    void speech.clear();
    await expect.poll(said).toEqual(['2 started 6600', '2 forgotten']);
    await expect.poll(diskUse).toBe(0);
    expect(charged.splice(0)).toEqual([{ audioMs: expect.closeTo(900, -1) as number }]);
    await speech.append(sound(rate, [quiet, 1_000]));
    const lengths: number[] = [];
    for (let pause = 0; pause < 3; pause += 1) {
      await speech.append(sound(rate, [voice, 400], [quiet, 240]));
      await expect.poll(() => calls.length).toBe(3 + pause);
      calls.at(-1)!.end('more');
      lengths.push(900 + 640 * pause);
      await expect.poll(files).toHaveLength(1);
    }
    void speech.clear();
    await expect.poll(said).toEqual(expect.arrayContaining(['3 forgotten']));
    const total = charged.reduce((sum, { audioMs = 0 }) => sum + audioMs, 0);
    const taken = lengths.reduce((sum, ms) => sum + ms, 0);
    expect([total > taken - 20, total <= taken]).toEqual([true, true]);
  });

  it('does not begin without a budget', async () => {
    const { calls, engine } = byTest();
    const spent = new ProblemError('quota-exceeded', 'Spent.');
    const requireBudget = vi.fn(() => Promise.reject(spent));
    const { speech, ended, diskUse } = await openSpeech(engine, { options, services: { requireBudget } });
    for (let turn = 1; turn <= 2; turn += 1) {
      await speech.append(sound(rate, [quiet, 1_000], [voice, 400], [quiet, 400]));
      expect(calls).toHaveLength(turn - 1);
      await speech.append(endOfTurn);
      await expect.poll(() => calls.length).toBe(turn);
      calls.at(-1)!.end();
      await ended(turn);
      await expect.poll(diskUse).toBe(0);
    }
    expect(requireBudget).toHaveBeenCalledOnce();
  });

  it('is thrown away if the hints change', async () => {
    const { calls, speech, said, ended } = await speakQuickly();
    speech.configure({ ...options, hints: { language: 'de' } });
    await speech.append(endOfTurn);
    await expect.poll(() => calls.length).toBe(3);
    calls[1]!.end('english');
    calls[2]!.end('deutsch');
    await ended(2);
    expect(said().at(-1)).toBe('2 completed deutsch');
  });

  it.each([
    ['of a remote model', false],
    ['of a model that is not known to be quick', true],
  ])('%s does not begin', async (_what, local) => {
    const { calls, engine } = byTest();
    const { speech, ended } = await openSpeech({ ...engine, entry: { local } });
    for (let turn = 1; turn <= (local ? 1 : 2); turn++) {
      await speech.append(sound(rate, [quiet, 1_000], [voice, 400], [quiet, 600]));
      await expect.poll(() => calls.length).toBe(turn);
      calls.at(-1)!.end();
      await ended(turn);
    }
    expect(calls).toHaveLength(local ? 1 : 2);
  });
});

describe('a model is loaded', () => {
  it('for sound, not for a setting, and only one until the next commit', async () => {
    const loaded: string[] = [];
    const warmUp = (id: string) => {
      loaded.push(id);
      return Promise.resolve();
    };
    const { speech, ended } = await openSpeech({ warmUp }, { options: byHand });
    const choose = (model: string) => speech.configure({ ...byHand, hints: { model } });
    for (let change = 0; change < 5; change += 1) for (const model of ['none', 'ears']) choose(model);
    expect(await speech.commit()).toBe(false);
    expect(loaded).toEqual([]);
    for (let change = 0; change < 5; change += 1) {
      for (const model of ['ears', 'none']) {
        choose(model);
        await speech.append(sound(rate, [voice, 200]));
        void speech.clear();
      }
    }
    choose('ears');
    await speech.append(sound(rate, [voice, 200]));
    expect(loaded).toEqual(['ears']);
    await speech.commit();
    await ended(1);
    await speech.append(sound(rate, [voice, 20]));
    await expect.poll(() => loaded).toEqual(['ears', 'ears']);
  });
});

describe('a detector of speech', () => {
  it('is asked about the last two seconds, as a file, and decides', async () => {
    const asked: number[] = [];
    const findSpeech = (_wavPath: string, durationMs: number) => {
      asked.push(durationMs);
      return Promise.resolve([{ startMs: durationMs - 400, endMs: durationMs }]);
    };
    const { speech, events, files, ended } = await openSpeech({ findSpeech });
    await speech.append(sound(rate, [quiet, 3_000], [voice, 140], [quiet, 600]));
    await speech.commit();
    await ended(1);
    expect(asked).toEqual([2_000, 2_000]);
    expect(told(events)).toContain('1 started 2700');
    expect(told(events).at(-1)).toMatch(/^1 completed \d/);
    await expect.poll(files).toEqual([]);
  });

  it('that finds none begins no turn', async () => {
    const { speech, events } = await openSpeech({ findSpeech: () => Promise.resolve([]) });
    await speech.append(two);
    expect(told(events)).toEqual([]);
  });

  it('that never answers leaves the decision to the level', async () => {
    const signals: AbortSignal[] = [];
    const findSpeech = (_wavPath: string, _durationMs: number, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
    };
    const { speech, events, ended } = await openSpeech({ findSpeech });
    await speech.append(two);
    await ended(2);
    expect(told(events).filter((event) => /started|stopped/.test(event))).toEqual(['1 started 700', '1 stopped 2500', '2 started 3400', '2 stopped 4800']); // prettier-ignore
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });
});

describe('sound that comes faster than the rate', () => {
  it('is handled in pieces of a second, between which the event loop serves others', async () => {
    const { speech } = await openSpeech();
    let iterations = 0;
    const count = () => {
      iterations += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await speech.append(sound(rate, [quiet, 20_000]));
    clearImmediate(next);
    expect(iterations).toBeGreaterThanOrEqual(19);
  });

  it('waits, with everything behind it, and ends with the session', async () => {
    const { speech, events, session } = await openSpeech(
      {},
      { services: { soundRate: { burst: 2_000, perSecond: 0.001 } } },
    );
    await speech.append(sound(rate, [quiet, 1_900]));
    const waiting = speech.append(sound(rate, [quiet, 1_000], [voice, 1_000], [quiet, 700]));
    const commit = speech.commit();
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(events).toEqual([]);
    session.abort(new Error('gone'));
    await Promise.all([waiting, commit]);
    expect(events).toEqual([]);
  });
});

describe('a session that ends', () => {
  it('aborts its transcriptions, says nothing more, and leaves nothing', async () => {
    const [begun, aborted] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const transcribe = (_call: unknown, { signal }: TranscriptionOptions) =>
      new Promise<never>((_resolve, reject) => {
        begun.resolve(undefined);
        signal.addEventListener('abort', () => {
          aborted.resolve(undefined);
          reject(signal.reason as Error);
        });
      });
    const { speech, events, files, workspace } = await openSpeech({ transcribe });
    await speech.append(Buffer.concat([utterance(), sound(rate, [quiet, 500], [voice, 500])]));
    await begun.promise;
    expect(await files()).toHaveLength(2);
    const said = events.length;
    await speech.end();
    await aborted.promise;
    expect(events).toHaveLength(said);
    expect(await files()).toEqual([]);
    expect(workspace.disk.used).toBe(0);
    expect([await speech.append(utterance()), await speech.commit()]).toEqual([true, true]);
    expect(events).toHaveLength(said);
  });

  it('ends with its signal, in the middle of a long piece', async () => {
    const { speech, session, files, workspace } = await openSpeech();
    const appended = speech.append(Buffer.concat(Array.from({ length: 20 }, () => utterance())));
    session.abort(new Error('gone'));
    await appended;
    await speech.end();
    expect(await files()).toEqual([]);
    expect(workspace.disk.used).toBe(0);
  });

  it('before it has begun leaves nothing', async () => {
    const session = new AbortController();
    session.abort(new Error('gone'));
    const { speech, workspace } = await openSpeech({}, { session });
    await speech.append(utterance());
    await speech.end();
    expect(await readdir(workspace.path)).toEqual([]);
  });

  it('leaves no files of turns behind while it continues', async () => {
    const { speech, ended, files, workspace } = await openSpeech();
    await speech.append(two);
    await ended(2);
    await expect.poll(files).toEqual([]);
    await expect.poll(() => workspace.disk.used).toBe(0);
  });
});
