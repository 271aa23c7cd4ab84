/** The kit for transcription catches what it is to catch. */
import { transcriptionChecks } from '../../src/conformance/transcription.ts';
import { openRecorder } from '../../src/conformance/recordings.ts';
import {
  badListings,
  badOptions,
  describeKit,
  firstOfEach,
  leavesProgram,
  litters,
  ownEngineError,
} from './support.ts';

/** Transcribes any sound as words. Keeps every rule. */
const good = `
  import { readFile, writeFile } from 'node:fs/promises';
  import { setTimeout as sleep } from 'node:timers/promises';
  ${ownEngineError}
  export const parts = {
    options: { type: 'object', additionalProperties: false, properties: { volume: { type: 'string' } } },
    models: [{ id: 'ears', local: true, supports: ['prompt', 'temperature', 'segment', 'word'] }],
    refuse: ({ model, language = 'en' }) => {
      if (model !== 'ears') throw new EngineError('unknown-model', 'There is no such model.');
      if (language !== 'en') throw new EngineError('language-not-supported', 'It knows English only.');
    },
    decodes: true,
    decode: (context, recording, { signal }) => context.decode(recording, { signal }),
    read: async ({ wavPath, startMs, endMs }) => (await readFile(wavPath)).subarray(44 + 32 * startMs, 44 + 32 * endMs),
    readAll: async ({ wavPath }) => (await readFile(wavPath)).subarray(44),
    work: async (context, wavPath, { signal }) => {
      await using directory = await context.temporaryDirectory();
      await writeFile(directory.path + '/notes', 'of the work');
      await sleep(150, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    recognize: (sound) => sound.some((byte) => byte !== 0)
      ? { text: 'Alpha, bravo.', language: 'en', durationMs: sound.length / 32 }
      : { text: '', language: null, durationMs: sound.length / 32 },
    time: ({ text }, timestamps = []) => ({
      ...(timestamps.includes('segment') && { segments: text ? [{ startMs: 0, endMs: 900, text }] : [] }),
      ...(timestamps.includes('word') && {
        words: text ? [{ startMs: 0, endMs: 400, text: 'Alpha' }, { startMs: 400, endMs: 900, text: 'bravo' }] : [],
      }),
    }),
    report: ({ segments = [] }, { onSegment, onProgress }) => {
      for (const segment of segments) {
        onSegment?.({ ...segment });
        onProgress?.(segment.endMs);
      }
    },
  };
  export const engineOf = ({ options, models, refuse, decodes, decode, read, work, recognize, time, report, assets }) => ({
    contract: 1,
    name: 'ears',
    capability: 'transcription',
    options,
    create: (_options, context) => ({
      models,
      ...(assets && { assets }),
      ...(decodes && { decodes }),
      async transcribe(call, options) {
        options.signal.throwIfAborted();
        refuse(call);
        const decoded = await decode(context, call.recording, options);
        await work(context, decoded.wavPath, options);
        const recognized = recognize(await read(decoded));
        const transcript = { ...recognized, ...(recognized && time(recognized, call.timestamps, decoded)) };
        report(transcript, options);
        return recognized && transcript;
      },
    }),
  });
  export default engineOf(parts);`;

/** Changes the times that the good engine has, if any. */
const times = (lie: string) => `time: (recognized, kinds) => {
  const times = parts.time(recognized, kinds);
  return times.words && times.segments ? { ...times, ...(${lie}) } : times;
}`;

const bad = {
  ...firstOfEach(badListings),
  'an unknown model is rejected': {
    'accepts any model': `refuse: (call) => parts.refuse({ ...call, model: 'ears' })`,
    'throws an ordinary error': `refuse: ({ model }) => { if (model !== 'ears') throw new Error('no such model'); }`,
  },
  'speech is transcribed': {
    'returns nothing': `recognize: () => undefined`,
    'names the language in English': `recognize: (...recognized) => ({ ...parts.recognize(...recognized), language: 'english' })`,
    'omits the language': `recognize: () => ({ text: 'alpha' })`,
    'returns empty text': `recognize: () => ({ text: '', language: null })`,
    'returns several lines': `recognize: (...recognized) => ({ ...parts.recognize(...recognized), text: 'alpha\\nbravo' })`,
    'returns the duration in seconds': `recognize: (sound) => ({ ...parts.recognize(sound), durationMs: sound.length / 32_000 })`,
  },
  'a slice of a file is transcribed like a recording of its own': {
    'measures the whole file': `read: parts.readAll`,
    'transcribes the whole file': `read: parts.readAll, models: [{ id: 'ears', local: true }],
      recognize: (sound) => ({ text: String(sound.length), language: 'en' })`,
    'counts from the start of the file': `time: (recognized, kinds, { startMs }) => {
      const later = (time) => ({ ...time, startMs: time.startMs + startMs, endMs: time.endMs + startMs });
      return Object.fromEntries(Object.entries(parts.time(recognized, kinds)).map(([kind, times]) => [kind, times.map(later)]));
    }`,
  },
  'silence returns empty text and no language': {
    'returns words for silence': `recognize: () => ({ text: 'Thank you.', language: 'en' })`,
    'returns a language for silence': `recognize: (...recognized) => ({ ...parts.recognize(...recognized), language: 'en' })`,
  },
  'supported hints are accepted': {
    'takes no prompt': `refuse: (call) => { parts.refuse(call); if (call.prompt) throw new Error('no'); }`,
    'takes no temperature': `refuse: (call) => { parts.refuse(call); if (call.temperature) throw new Error('no'); }`,
  },
  'supported timestamps spell the text, in order and within the recording': {
    'returns none': `time: () => ({})`,
    'returns words only with segments': `time: (recognized, kinds) => kinds?.length === 1 ? {} : parts.time(recognized, kinds)`,
    'returns none for silence': `time: (recognized, kinds) => recognized.text ? parts.time(recognized, kinds) : {}`,
    'returns a segment for silence': times(`recognized.text ? {} : { segments: [{ startMs: 0, endMs: 1, text: '' }] }`),
    'spells another text': times(`{ words: times.words.slice(1) }`),
    'measures in seconds': times(`{ segments: [{ startMs: 0, endMs: 0.9, text: recognized.text }] }`),
    'is out of order': times(`{ words: times.words.map((word, i) => ({ ...word, startMs: 300 - i })) }`),
    'ends before it starts': times(`{ segments: [{ startMs: 2, endMs: 1, text: recognized.text }] }`),
    'ends after the recording': times(`{ segments: [{ startMs: 0, endMs: 9e6, text: recognized.text }] }`),
  },
  'segments reported early are those of the transcript, and progress does not go back': {
    'reports another text': `report: (recognized, { onSegment }) =>
      parts.report(recognized, { onSegment: (segment) => onSegment?.({ ...segment, text: 'alpha' }) })`,
    'reports a segment twice': `report: (...call) => { parts.report(...call); parts.report(...call); }`,
    'goes back': `report: (_heard, { onProgress }) => { onProgress?.(500); onProgress?.(400); }`,
    'reports half a millisecond, and returns no segments': `models: [{ id: 'ears', local: true }],
      report: (_heard, { onSegment }) => onSegment?.({ startMs: 0.5, endMs: 1, text: 'alpha' })`,
    'reports a segment without a text': `models: [{ id: 'ears', local: true }],
      report: (_heard, { onSegment }) => onSegment?.({ startMs: 0, endMs: 1 })`,
    'waits in a place before the first': `report: (_heard, { onQueued }) => onQueued?.(-1)`,
    'goes beyond the end': `report: (_heard, { onProgress }) => onProgress?.(9e6)`,
  },
  'invalid audio is rejected': {
    'transcribes it': `decode: async (context, { path }) => ({ wavPath: path, startMs: 0, endMs: 1 })`,
    'throws an ordinary error': `decode: (...call) => parts.decode(...call).catch(() => { throw new Error('broken'); })`,
    'rejects with an unknown code': `decode: (...call) => parts.decode(...call).catch((error) => { error.code = 'broken'; throw error; })`,
  },
  'an unsupported language is rejected': {
    'accepts any language': `refuse: (call) => parts.refuse({ ...call, language: 'en' })`,
    'rejects with another code': `refuse: (call) => {
      try { parts.refuse(call); } catch (error) { throw Object.assign(error, { code: 'content-rejected' }); }
    }`,
  },
  'an aborted call rejects promptly with the abort reason': {
    'does not stop': `
      decode: (context, recording) => parts.decode(context, recording, { signal: new AbortController().signal }),
      work: () => sleep(1000)`,
    'leaves a program running': leavesProgram('decode'),
    'rejects with an error of its own': `
      decode: (...call) => parts.decode(...call).catch(() => { throw new Error(); }),
      work: (...call) => parts.work(...call).catch(() => { throw new Error(); })`,
  },
  'no files remain after a call, however it ends': {
    'writes to the temporary directory of the system': litters('work'),
    'leaves a directory': `work: async (context, wavPath, options) => {
      await context.temporaryDirectory();
      await parts.work(context, wavPath, options);
    }`,
    'leaves a directory after an abort': `decode: async (context, recording, { signal }) => {
      const directory = await context.temporaryDirectory();
      const decoded = await parts.decode(context, recording, { signal });
      await sleep(150, undefined, { signal });
      await directory[Symbol.asyncDispose]();
      return decoded;
    }`,
  },
  ...firstOfEach(badOptions),
};

const record = await openRecorder();

describeKit('transcription', {
  checks: transcriptionChecks,
  good,
  bad,
  toSubject: (subject) => ({ ...subject, record }),
});
