/** A transcription engine that does what the recording says: one report, failure or wait after the other. */
import type { EngineErrorCode, TimedText, Transcript } from '../../../engines/contract/index.ts';
import { multipart, multipartType, wavHead, type FormField } from '../../api/support/forms.ts';
import type { TestServiceOptions } from '../../support/service.ts';

export type Action =
  | { readonly segment: unknown }
  | { readonly queued: unknown }
  | { readonly progress: readonly [processedMs: unknown, durationMs?: unknown] }
  | { readonly fail: EngineErrorCode; readonly message?: string; readonly retryAfter?: number }
  /** Throws what no contract foresees. */
  | { readonly crash: string }
  /** `signal` waits until it aborts, `ever` does not even look at it. */
  | { readonly wait: 'signal' | 'ever' }
  /** So many progress reports, each followed by a turn of the event loop; it logs `produced` behind them. */
  | { readonly flood: number }
  | { readonly result: unknown };

export type Script = readonly Action[];

/**
 * Serves `words`, the default, which supports timestamps of segments and words, `segments`, and `plain` without either.
 * Logs `began` with what it was asked for, `aborted` when its signal does, and `ended`.
 */
export const scripted: Required<Pick<TestServiceOptions, 'config' | 'files'>> = {
  config: 'engines: { scripted: { use: ./scripted.mjs } }\n',
  files: {
    'scripted.mjs': `
import { readFile } from 'node:fs/promises';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

const supports = { words: ['segment', 'word'], segments: ['segment'], plain: [] };

function engineError({ fail: code, message = 'It failed.', retryAfter }) {
  return Object.assign(new Error(message, { cause: new Error('a private fact') }), {
    code,
    retryAfter,
    [Symbol.for('parlance.engine-error')]: true,
  });
}

export default {
  contract: 1,
  name: 'scripted',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create(options, { log }) {
    return {
      models: Object.keys(supports).map((id) => ({ id, local: true, supports: supports[id] })),
      async transcribe({ recording, timestamps }, { signal, onSegment, onProgress, onQueued }) {
        const script = JSON.parse((await readFile(recording.path, 'utf8')).slice(${wavHead.length}));
        log.info({ timestamps, hasSegments: onSegment !== undefined }, 'began');
        signal.addEventListener('abort', () => log.info({ reason: signal.reason.name }, 'aborted'));
        try {
          for (const action of script) {
            if ('segment' in action) onSegment?.(action.segment);
            if ('queued' in action) onQueued?.(action.queued);
            if ('progress' in action) onProgress?.(...action.progress);
            if ('fail' in action) throw engineError(action);
            if ('crash' in action) throw new TypeError(action.crash);
            if (action.wait === 'ever') await new Promise(() => {});
            if (action.wait === 'signal') await wait(60_000, undefined, { signal });
            if ('flood' in action) {
              for (let ms = 1; ms <= action.flood; ms++) {
                onProgress?.(ms, action.flood);
                await turn();
              }
              log.info({}, 'produced');
            }
            if ('result' in action) return action.result;
          }
        } finally {
          log.info({}, 'ended');
        }
      },
    };
  },
};
`,
  },
};

export const segment = (startMs: number, endMs: number, text: string): Action => ({
  segment: { startMs, endMs, text } satisfies TimedText,
});
/** Held to the engine contract by its type. */
export const result = (transcript: Transcript): Action => ({ result: transcript });

/** With all its timestamps. */
export const timed: Transcript = {
  text: 'Good morning.',
  language: 'en',
  durationMs: 1500.4,
  segments: [{ startMs: 100, endMs: 1400, text: 'Good morning.' }],
  words: [
    { startMs: 100, endMs: 500, text: 'Good' },
    { startMs: 600, endMs: 1400, text: 'morning.' },
  ],
};

/** The same in the API. */
export const wire = {
  plain: { text: 'Good morning.', language: 'en', duration_ms: 1500 },
  segments: [{ start_ms: 100, end_ms: 1400, text: 'Good morning.' }],
  words: [
    { start_ms: 100, end_ms: 500, text: 'Good' },
    { start_ms: 600, end_ms: 1400, text: 'morning.' },
  ],
} as const;

/** A whole transcription, with a segment and progress. */
export const goodMorning: Script = [segment(100, 1400, 'Good morning.'), { progress: [1500, 1500.4] }, result(timed)];

/** The recording whose transcription the script is. */
export function recordingOf(script: Script): FormField {
  const value = Buffer.concat([wavHead, Buffer.from(JSON.stringify(script))]);
  return { name: 'file', value, filename: 'memo.wav' };
}

/** Fields precede the recording, as the client sends them. */
export function formOf(script: Script, fields: Readonly<Record<string, string>> = {}) {
  const texts = Object.entries(fields).map(([name, value]) => ({ name, value }));
  return { headers: multipartType, body: multipart(...texts, recordingOf(script)) };
}
