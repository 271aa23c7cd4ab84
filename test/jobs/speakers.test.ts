/** Jobs that ask who spoke: the whole recording is searched once, whatever happens to the service. */
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';
import { create, end, eventsOf } from './support/jobs.ts';
import { holdPart, start } from './support/restart.ts';
import { speechOf, textOf, wordEngine } from './support/speech.ts';

const searches = 'parlance.test.searches';

/** Finds two speakers, the second from the middle of the recording on. */
const finder = `
export default {
  contract: 1,
  name: 'finder',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [],
    speakers: {
      maxMs: 60_000,
      async find({ endMs }) {
        globalThis['${searches}'] = (globalThis['${searches}'] ?? 0) + 1;
        const spans = [{ startMs: 0, endMs: endMs / 2, speaker: 1 }, { startMs: endMs / 2, endMs, speaker: 0 }];
        return { spans, distances: [] };
      },
    },
    transcribe: () => Promise.reject(new Error('it has no models')),
  }),
};
`;

const options = {
  config: 'engines: { words: { use: ./words.mjs }, finder: { use: ./finder.mjs } }\n',
  files: { ...wordEngine.files, 'finder.mjs': finder },
};

test('a job that is resumed after a restart keeps its speakers', async () => {
  const dataDir = await temporaryDirectory();
  let id: string;
  {
    using held = holdPart(2);
    await using service = await start(dataDir, options);
    ({ id } = await create(service, speechOf(20), { model: 'words', diarize: 'true' }));
    await held.reached;
  }
  await using service = await start(dataDir, options);
  const { result, segments } = await end(service, id);
  expect(result?.turns?.map(({ speaker }) => speaker)).toEqual(['A', 'B']);
  expect(result?.turns?.map(({ text }) => text).join(' ')).toBe(result?.text);
  expect(segments.map(({ speaker }) => speaker)).toEqual(Array.from({ length: 20 }, (_, n) => (n < 10 ? 'A' : 'B')));
  expect((globalThis as { [searches]?: number })[searches]).toBe(1);
  const events = await eventsOf(service, id);
  const created = events.filter(({ type }) => type === 'segment.created');
  expect(JSON.stringify(created)).not.toContain('speaker');
});

test('a job has the speaker of each word if the model has no segments', async () => {
  await using service = await start(await temporaryDirectory(), options);
  const { id } = await create(service, speechOf(6), { model: 'only words', diarize: 'true' });
  const { result } = await end(service, id);
  expect(result?.turns).toMatchObject([
    { speaker: 'A', text: textOf(3) },
    { speaker: 'B', text: textOf(3, 3) },
  ]);
});

test('a job of a model without times of words is rejected when it is sent', async () => {
  await using service = await start(await temporaryDirectory(), options);
  await expect(create(service, speechOf(2), { model: 'plain', diarize: 'true' })).rejects.toThrow(/422 .*parameter-not-supported/); // prettier-ignore
});
