/** The program that finds speakers is not trusted: wrong model files are not loaded, and its answers are checked. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EngineContext, ResidentCall } from '../../../engines/contract/index.ts';
import { openSpeakers } from '../../../engines/lib/speakers/index.ts';
import type { Library } from '../../../engines/lib/sherpa/library.ts';
import { guardSpeakers } from '../../../src/engine-host/guard/calls.ts';
import { writeSpeakerModels } from '../../support/speaker-models.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const library = { open: () => '/library', missing: () => undefined, asset: undefined } as unknown as Library;

/** A program that sends these messages, and then this answer. */
function contextOf(messages: readonly object[], done: unknown): EngineContext {
  const call = async (_question: object, { onMessage }: ResidentCall) => {
    for (const message of messages) onMessage?.(message as Readonly<Record<string, unknown>>);
    return Promise.resolve(done);
  };
  return {
    ...{ dataDir: '/none', memoryBudget: 1e10, resolve: (path: string) => path },
    queue: () => ({ run: (work: () => Promise<unknown>) => work() }),
    resident: () => ({ call }),
  } as unknown as EngineContext;
}

const sound = { wavPath: '/none.wav', startMs: 0, endMs: 10_000 };
const { signal } = new AbortController();

async function find(messages: readonly object[], done: unknown) {
  const folder = await writeSpeakerModels(await temporaryDirectory());
  const { finder } = await openSpeakers({ folder }, library, contextOf(messages, done));
  return guardSpeakers(finder, { instance: 'mine', abortMs: 0, recheck: undefined }).find(sound, { signal });
}

test('the spans of all messages are joined', async () => {
  const messages = [{ progress: 0.5 }, { spans: [[0, 100, 0]] }, { spans: [[200, 300, 1]] }];
  expect(await find(messages, { distances: [] })).toEqual({
    spans: [
      { startMs: 0, endMs: 100, speaker: 0 },
      { startMs: 200, endMs: 300, speaker: 1 },
    ],
    distances: [],
  });
});

test.each<[string, readonly object[], unknown]>([
  ['spans that are no list', [{ spans: 'all' }], { distances: [] }],
  ['a span of texts', [{ spans: [['0', '1', '2']] }], { distances: [] }],
  ['NaN', [{ spans: [[NaN, 1, 0]] }], { distances: [] }],
  ['no distances', [], true],
  ['distances that are no numbers', [], { distances: [[null]] }],
])('a program that answers with %s fails the call', async (_what, messages, done) => {
  await expect(find(messages, done)).rejects.toMatchObject({ code: 'engine-failed' });
});

describe('a folder', () => {
  test('with the two models in each other’s place is not used', async () => {
    const folder = await writeSpeakerModels(await temporaryDirectory());
    const [segmentation, embedding] = ['model.onnx', 'nemo_en_titanet_small.onnx'].map((name) => join(folder, name));
    await rename(segmentation!, `${segmentation}.kept`);
    await rename(embedding!, segmentation!);
    await rename(`${segmentation}.kept`, embedding!);
    const { finder, inspect } = await openSpeakers({ folder }, library, contextOf([], { distances: [] }));
    expect(finder.maxMs).toBeUndefined();
    expect(await inspect()).toMatchObject([{ ok: false, detail: expect.stringContaining('model.onnx') as unknown }]);
    await expect(finder.find(sound, { signal })).rejects.toMatchObject({ code: 'model-unavailable' });
  });
});
