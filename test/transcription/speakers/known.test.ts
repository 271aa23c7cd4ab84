/** Known speakers at /api/v1: their voices are files of the form, and nothing of them is kept. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { multipart, multipartType, type FormField } from '../../api/support/forms.ts';
import { readEvents } from '../../jobs/support/jobs.ts';
import { hookEngine, speechOf } from '../../jobs/support/speech.ts';
import { hookSearch, referenceOf, soundsIn, voices, withFinder } from '../../support/speaker-finder.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(withFinder);
});
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => expect.poll(() => service.leftovers()).toEqual([]));

const field = (name: string, value: string): FormField => ({ name, value });
const named = (...names: readonly string[]) => names.map((name) => field('known_speaker_names', name));
const reference = (value: Uint8Array): FormField => ({
  ...{ name: 'known_speaker_references', value, filename: 'voice.wav', type: 'audio/wav' },
});
const like = (...names: readonly (keyof typeof voices)[]) => names.map((name) => reference(referenceOf(name)));
const talk: FormField = { name: 'file', value: speechOf(6), filename: 'talk.wav' };

const send = (path: string, fields: readonly FormField[], model = 'words') =>
  service.api(path, { method: 'POST', headers: multipartType, body: new Uint8Array(multipart(field('model', model), ...fields)) }); // prettier-ignore

async function speakersOf(...fields: readonly FormField[]): Promise<readonly string[]> {
  const answer = await send('/transcribe', fields);
  const { turns } = (await answer.json()) as { readonly turns: readonly { readonly speaker: string }[] };
  return turns.map(({ speaker }) => speaker);
}

describe('a known speaker', () => {
  test('is named, wherever the references are in the form, and a stranger is not', async () => {
    const known = [...named('Ada', 'Bob'), ...like('second', 'stranger')];
    expect(await speakersOf(...known, talk)).toEqual(['A', 'Ada']);
    expect(await speakersOf(talk, ...known)).toEqual(['A', 'Ada']);
    expect(await speakersOf(...like('stranger', 'first'), talk, ...named('Ada', 'Bob'))).toEqual(['Bob', 'A']);
    expect(await speakersOf(...named('Ada'), ...like('first'), field('channels', 'mixed'), talk)).toEqual(['Ada', 'A']);
  });

  test('is named in a stream', async () => {
    const events = await readEvents(await send('/transcribe/stream', [...named('Ada'), ...like('first'), talk]));
    expect(events.at(-1)).toMatchObject({ result: { speakers: [{ speaker: 'Ada' }, { speaker: 'A' }] } });
  });

  test('has the empty file input of a browser as no reference', async () => {
    const empty: FormField = {
      name: 'known_speaker_references',
      value: '',
      filename: '',
      type: 'application/octet-stream',
    };
    expect(await speakersOf(empty, field('diarize', 'true'), talk)).toEqual(['A', 'B']);
  });
});

const hours = (seconds: number) => referenceOf('first', seconds);
const large = new Uint8Array(1_000_001);

test.each<[what: string, pointer: string, code: string, fields: readonly FormField[]]>([
  ['a name without a reference', '/known_speaker_references', 'parameter-not-supported', named('Ada')],
  ['a reference without a name', '/known_speaker_references', 'parameter-not-supported', like('first')],
  [
    'a fifth reference',
    '/known_speaker_references',
    'invalid-request',
    like('first', 'first', 'first', 'first', 'first'),
  ],
  ['a fifth name', '/known_speaker_names', 'invalid-request', named('A', 'B', 'C', 'D', 'E')],
  ['a name of 65 characters', '/known_speaker_names', 'invalid-request', [...named('é'.repeat(65)), ...like('first')]],
  ['a reference of more than 1 MB', '/known_speaker_references/1', 'invalid-request', [...named('A', 'B'), ...like('first'), reference(large)]], // prettier-ignore
  ['a reference that is text', '/known_speaker_references', 'invalid-request', [...named('Ada'), field('known_speaker_references', 'data:audio/wav;base64,AAAA')]], // prettier-ignore
  ['a reference that is no sound', '/known_speaker_references', 'invalid-request', [...named('Ada'), reference(Buffer.from('no sound'))]], // prettier-ignore
  [
    'an empty reference',
    '/known_speaker_references',
    'invalid-request',
    [...named('Ada'), reference(new Uint8Array())],
  ],
  ['a reference of 0.9 s', '/known_speaker_references', 'invalid-request', [...named('Ada'), reference(hours(0.9))]],
  ['a reference of 31 s', '/known_speaker_references', 'invalid-request', [...named('Ada'), reference(hours(31))]],
])('%s is rejected, and nothing is searched', async (_what, pointer, code, fields) => {
  let searches = 0;
  using _counted = hookSearch(() => (searches += 1));
  for (const path of ['/transcribe', '/transcribe/stream', '/transcriptions']) {
    const answer = await send(path, [...fields, talk]);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code, errors: [{ pointer }] });
  }
  expect(searches).toBe(0);
});

test('nothing of a reference is on the disk after its request', async () => {
  const dataDir = await temporaryDirectory();
  await using own = await startTestService({ ...withFinder, env: { DATA_DIR: dataDir } });
  const searched: number[][] = [];
  using _looking = hookSearch(async () => searched.push(await soundsIn(dataDir)));
  const form = multipart(field('model', 'words'), ...named('Ada'), ...like('first'), talk);
  const answer = await own.api('/transcribe', { method: 'POST', headers: multipartType, body: new Uint8Array(form) });
  expect(await answer.json()).toMatchObject({ speakers: [{ speaker: 'Ada' }, { speaker: 'A' }] });
  expect(searched).toEqual([[voices.first]]);
  await expect.poll(() => soundsIn(dataDir)).toEqual([]);
  expect(await soundsIn('/dev/shm')).toEqual([]);
});

test('a second recording is rejected', async () => {
  const answer = await send('/transcribe', [...named('Ada'), ...like('first'), talk, talk]);
  expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/file', detail: 'must be a single file' }] });
});

test('a model without speakers is rejected before the recording is read', async () => {
  let calls = 0;
  using _hook = hookEngine(() => (calls += 1));
  const unending = multipart(field('model', 'plain'), ...named('Ada'), ...like('first'), talk).subarray(0, -100);
  const body = streamOf(unending);
  const answer = await service.api('/transcribe', { method: 'POST', headers: multipartType, body, duplex: 'half' });
  expect(await answer.json()).toMatchObject({ code: 'parameter-not-supported' });
  expect(calls).toBe(0);
});

/** The bytes, without an end. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(bytes) });
}
