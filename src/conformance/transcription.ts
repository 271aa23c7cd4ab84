/** The rules for engines of transcription. An engine that keeps them can be put into the settings. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  availabilityCodes,
  type AvailabilityCode,
  type Recording,
  type Transcript,
  type TranscriptionCall,
} from '../../engines/contract.ts';
import { availabilityOf, RegistryError, type Registry, type ServedModel } from '../../engines/registry.ts';
import { engineErrorOf, Nonconformance, expectRefusal, expectThat, promptly, shown, type Check } from './kit.ts';

/** The engine under test, and what the checks need around it. */
export interface TranscriptionSubject {
  /** With which the engine works. */
  readonly options: Readonly<Record<string, unknown>>;
  /** A registry whose only instance is the engine with these options, in contexts as the service makes them. */
  readonly open: (options: Readonly<Record<string, unknown>>) => Promise<OpenSubject>;
  /** A recording in a directory of its own, which goes with it. */
  readonly record: (sound: Sound) => Promise<SubjectRecording>;
}

export interface OpenSubject extends AsyncDisposable {
  readonly registry: Registry;
  /** The files in the directories that were lent to the engine, now. */
  readonly leftovers: () => Promise<readonly string[]>;
}

/** Words that the model understands; a second of silence; and what looks like a recording but is none. */
export type Sound = 'words' | 'silence' | 'nonsense';

export interface SubjectRecording extends Recording, AsyncDisposable {
  readonly durationMs: number;
}

/** What passes by itself must not make a frontend hide its microphone; what does not must. */
const verdictOf: Readonly<Record<AvailabilityCode, boolean | 'either'>> = {
  ready: true,
  busy: true,
  'upstream-unreachable': 'either',
  disabled: false,
  'unknown-model': false,
  'no-model': false,
  'program-missing': false,
  'model-file-missing': false,
  'key-missing': false,
  'key-refused': false,
  preparing: false,
};

/** How far off an engine's own measure of the length may be: codecs pad. */
const toleranceMs = 250;

/** Two letters that stand for no language. */
const noLanguage = 'qq';

export const transcriptionChecks: readonly Check<TranscriptionSubject>[] = [
  check('the models are well-formed and named once, and are listed from memory', async ({ registry }) => {
    const models = await registry.models('transcription');
    expectThat(models.length > 0, 'it serves no model');
    for (const { entry } of models) {
      const { id, name, local, discovered } = entry;
      expectThat(typeof id === 'string' && id !== '', `a model has the id ${shown(id)}`);
      expectThat(
        typeof local === 'boolean',
        `the model ${id} has local: ${shown(local)}, which is neither true nor false`,
      );
      expectThat(
        name === undefined || (typeof name === 'string' && name !== ''),
        `the model ${id} has the name ${shown(name)}`,
      );
      expectThat(
        discovered === undefined || typeof discovered === 'boolean',
        `${id} has discovered: ${shown(discovered)}`,
      );
    }
    expectThat(new Set(models.map(({ id }) => id)).size === models.length, 'it lists a model twice');
    await promptly(registry.models('transcription'), 'listing the models');
  }),

  check('every model tells whether it can work, at once, in a word that is known', async ({ registry }) => {
    for (const model of await registry.models('transcription')) {
      await availabilityOf(model);
      const answer = await promptly(availabilityOf(model), `the availability of ${model.id}`);
      const { available, code, reason } = answer;
      expectThat(availabilityCodes.includes(code), `the availability of ${model.id} has the code ${shown(code)}`);
      expectThat(typeof available === 'boolean', `${model.id} has available: ${shown(available)}`);
      expectThat(
        [available, 'either'].includes(verdictOf[code]),
        `${model.id} is ${code}, but available: ${available}`,
      );
      expectThat(typeof reason === 'string' && reason !== '', `${model.id} gives no reason for ${code}`);
    }
  }),

  check('a model that it does not serve is refused', async (opened) => {
    await using recording = await opened.record('words');
    const call = transcribe(opened, recording, { model: 'no-such-model' });
    await expectRefusal('unknown-model', call, 'the model "no-such-model"');
  }),

  check('words become a transcript', async (opened) => {
    await using recording = await opened.record('words');
    const { text, language, durationMs } = await transcribe(opened, recording);
    expectThat(typeof text === 'string' && text !== '', `the transcript of words has the text ${shown(text)}`);
    expectThat(!/[\r\n]/.test(text), `the text is not one continuous string: ${shown(text)}`);
    const isCode = language === null || (typeof language === 'string' && /^[a-z]{2}$/.test(language));
    expectThat(isCode, `the language is ${shown(language)}, neither a code of two letters nor null`);
    if (durationMs === undefined) return;
    const isClose = Math.abs(durationMs - recording.durationMs) <= toleranceMs;
    expectThat(isClose, `the recording has ${recording.durationMs} ms; the transcript says ${durationMs}`);
  }),

  check('silence is no text in no language', async (opened) => {
    await using recording = await opened.record('silence');
    const { text, language } = await transcribe(opened, recording);
    expectThat(text === '', `it heard ${shown(text)}`);
    expectThat(language === null, `it heard the language ${shown(language)}`);
  }),

  check('what is no recording is refused', async (opened) => {
    await using recording = await opened.record('nonsense');
    await engineErrorOf(transcribe(opened, recording), 'nonsense');
  }),

  check('a language that there is not is refused', async (opened) => {
    await using recording = await opened.record('words');
    const call = transcribe(opened, recording, { language: noLanguage });
    await expectRefusal('language-not-supported', call, `the language "${noLanguage}"`);
  }),

  check('a caller who leaves is let go at once, with the reason', async (opened) => {
    const timed = async () => {
      await using recording = await opened.record('words');
      const started = performance.now();
      await transcribe(opened, recording);
      return performance.now() - started;
    };
    // The first call may find everything cold.
    const wholeMs = Math.min(await timed(), await timed());
    for (const share of [0, 0.25, 0.5, 0.75]) {
      await using again = await opened.record('words');
      await leaveAfter(share * wholeMs, opened, again);
    }
  }),

  check('nothing is left behind, however a call ends', async (opened) => {
    {
      await using words = await opened.record('words');
      await using nonsense = await opened.record('nonsense');
      await using left = await opened.record('words');
      await transcribe(opened, words);
      await transcribe(opened, nonsense).catch(() => undefined);
      const gone = AbortSignal.timeout(20);
      await transcribe(opened, left, {}, gone).catch(() => undefined);
    }
    const files = await opened.leftovers();
    expectThat(files.length === 0, `it leaves ${files.join(', ')}`);
  }),

  {
    name: 'right options start it, and wrong ones stop the start',
    run: async ({ open, options }) => {
      const start = async (changes: object) => {
        await using _opened = await open({ ...options, ...changes });
      };
      const isRefused = (wrong: object) =>
        start(wrong).then(
          () => false,
          (error: unknown) => error instanceof RegistryError,
        );
      await start({});
      expectThat(await isRefused({ 'no-such-option': true }), 'it takes the option "no-such-option"');
      for (const name of Object.keys(options)) {
        const refusals = [await isRefused({ [name]: { 'no such': [null] } }), await isRefused({ [name]: -0.5 })];
        expectThat(refusals.includes(true), `its option "${name}" takes anything`);
      }
    },
  },
];

type Opened = Pick<OpenSubject, 'registry' | 'leftovers'> & Pick<TranscriptionSubject, 'record'>;

/** A check of the engine as its options make it, opened for this check alone. */
function check(name: string, run: (opened: Opened) => Promise<void>): Check<TranscriptionSubject> {
  return {
    name,
    async run({ open, options, record }) {
      await using opened = await open(options);
      await run({ registry: opened.registry, leftovers: opened.leftovers, record });
    },
  };
}

/** Asks the first model that works, unless the call names another. */
async function transcribe(
  { registry }: Opened,
  { path, bytes, container, mediaType }: Recording,
  call: Partial<TranscriptionCall> = {},
  signal = new AbortController().signal,
): Promise<Transcript> {
  const { engine, engineId } = await firstThatWorks(registry);
  const recording = { path, bytes, container, mediaType };
  return engine.transcribe({ recording, model: engineId, ...call }, { signal });
}

async function firstThatWorks(registry: Registry): Promise<ServedModel<'transcription'>> {
  const reasons: string[] = [];
  for (const model of await registry.models('transcription')) {
    const { available, reason } = await availabilityOf(model);
    if (available) return model;
    reasons.push(`${model.id}: ${reason}`);
  }
  throw new Nonconformance(`no model works here, so nothing can be asked of it: ${reasons.join('; ')}`);
}

/** Leaves so many milliseconds after the call; a call that is over by then has nothing to show. */
async function leaveAfter(ms: number, opened: Opened, recording: Recording): Promise<void> {
  const reason = new Error('the caller has left');
  const caller = new AbortController();
  const call = transcribe(opened, recording, {}, caller.signal);
  const outcome = call.then(
    () => undefined,
    (error: unknown) => error ?? new Error('nothing'),
  );
  await Promise.race([outcome, sleep(ms)]);
  caller.abort(reason);
  const error = await promptly(outcome, `a call whose caller left after ${Math.round(ms)} ms`);
  const isOver = ms > 0 && error === undefined;
  expectThat(isOver || error === reason, 'it does not reject with the reason for which the caller left', error);
}
