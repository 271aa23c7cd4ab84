/** What the tests of audio under /v1 share: the SDK, forms as apps send them, a scripted transcription engine. */
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { spokenWords } from '../../../src/conformance/recordings.ts';
import { multipart, multipartType, type FormField } from '../../api/support/forms.ts';
import { createApi, type Answer } from '../../support/http.ts';
import type { TestService, TestServiceOptions } from '../../support/service.ts';

/** 2099 ms of speech. */
export const words = readFileSync(spokenWords);

export const transcriptions = '/v1/audio/transcriptions';
export const translations = '/v1/audio/translations';

/** As its users create it; without retries, so that a failure shows. */
export function sdkOf({ url }: Pick<TestService, 'url'>, options: object = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-none', maxRetries: 0, ...options });
}

/** A new one for each request: the SDK reads it once. */
export const speech = () => new File([new Uint8Array(words)], 'speech.wav');

/** The file of a form, as an app names it. */
export const file = (filename = 'audio.wav', type = 'application/octet-stream'): FormField => ({
  name: 'file',
  value: words,
  filename,
  type,
});

export type Pair = readonly [name: string, value: string];

/** Text fields in order; a name may occur several times. */
export const fields = (...pairs: readonly Pair[]): FormField[] => pairs.map(([name, value]) => ({ name, value }));

/** A form whose fields are sent in this order. */
export function sendForm(
  { url }: Pick<TestService, 'url'>,
  parts: readonly FormField[],
  headers: Readonly<Record<string, string>> = {},
  path = transcriptions,
): Promise<Answer> {
  return createApi(url).send('POST', path, {
    headers: { ...multipartType, ...headers },
    body: multipart(...parts),
  });
}

interface ErrorBody {
  readonly error: { readonly message: string; readonly type: string; readonly param: unknown; readonly code: unknown };
}

export const errorOf = ({ body }: Answer) => (body as ErrorBody).error;

/**
 * Its models by what they support. It logs each call; the script is its prompt: `fail` throws after the first segment,
 * `hang` waits there for the end, which it logs, and `correct` returns another text than its segments.
 */
const transcriptionEngine = `
import { setTimeout as wait } from 'node:timers/promises';

const failureOf = (code) =>
  Object.assign(new Error('The ears broke.'), { code, [Symbol.for('parlance.engine-error')]: true });
const all = ['prompt', 'temperature', 'segment', 'word'];

export default {
  contract: 1,
  name: 'scripted-transcription',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: (_options, context) => ({
    models: [
      { id: 'full', local: true, supports: all },
      { id: 'plain', local: true },
      { id: 'no words', local: true, supports: ['segment'] },
      { id: 'prompts', local: true, supports: ['prompt'] },
      { id: 'keywords', local: true, supports: ['prompt', 'keywords'] },
      { id: 'translator', local: true, supports: ['prompt', 'segment', 'translate'] },
      { id: 'speakers', local: true, supports: ['diarize'] },
      { id: 'languages', local: true, supports: ['languages'] },
      { id: 'English', local: true },
    ],
    async transcribe({ recording, ...call }, { signal, onSegment }) {
      const knownSpeakers = call.knownSpeakers?.map(({ name, reference }) => ({ name, bytes: reference.length }));
      context.log.info({ call: { ...call, ...(knownSpeakers && { knownSpeakers }) }, bytes: recording.bytes }, 'transcribe');
      signal.addEventListener('abort', () => context.log.info({}, 'ended'));
      const { model, prompt = '', timestamps = [], translate, diarize } = call;
      if (model === 'English' && call.language) throw failureOf('language-not-supported');
      if (translate) {
        const segments = [{ startMs: 0, endMs: 2000, text: 'Good morning, world.' }];
        return { text: 'Good morning, world.', language: 'de', durationMs: 2099, ...(timestamps.length > 0 && { segments }) };
      }
      const segments = [
        { startMs: 0, endMs: 900, text: 'Guten Morgen,' },
        { startMs: 900, endMs: 2000, text: 'Welt.' },
      ];
      const words = ['Guten', 'Morgen,', 'Welt.'].map((text, i) => ({ startMs: i * 500, endMs: i * 500 + 400, text }));
      onSegment?.(segments[0]);
      if (prompt === 'fail') throw failureOf('provider-error');
      if (prompt === 'hang') await wait(600_000, undefined, { signal });
      onSegment?.(segments[1]);
      return {
        text: prompt === 'correct' ? 'Guten Abend, Welt.' : 'Guten Morgen, Welt.',
        language: 'de',
        durationMs: 2099,
        ...(timestamps.includes('segment') && { segments }),
        ...(timestamps.includes('word') && { words }),
        ...(diarize && { turns: segments.map((segment, i) => ({ ...segment, speaker: 'AB'[i] })) }),
      };
    },
  }),
};
`;

export const scriptedTranscription = {
  config: 'engines: { ears: { use: ./transcription.mjs } }\n',
  files: { 'transcription.mjs': transcriptionEngine },
} satisfies TestServiceOptions;

export interface LoggedCall {
  readonly model: string;
  readonly language?: string;
  readonly prompt?: string;
  readonly temperature?: number;
  readonly timestamps?: readonly string[];
  readonly keywords?: readonly string[];
  readonly translate?: true;
  readonly diarize?: true;
  readonly languages?: readonly string[];
  readonly knownSpeakers?: readonly object[];
}

/** What the engine was asked for. */
export function calls({ log }: Pick<TestService, 'log'>): LoggedCall[] {
  return log.filter(({ msg }) => msg === 'transcribe').map(({ call }) => call as LoggedCall);
}
