/** A service with keys that have limits, and engines that a test holds and releases. */
import { currentCaller, type KeyLimits } from '../../src/request-scope.ts';
import { bearer, keysFile, tokenOf } from '../keys/support/keys.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

/**
 * A chat and a transcription in the test's own process. Their models: `fine`; `held` works until it is released; `failing`
 * fails after its first round, or half of the recording; `unreported` reports no usage; `untold` is held in the middle of an
 * answer of which 395 characters are delivered and no usage is reported; `half-reported` reports the first of two rounds.
 */
const engines = `
const usage = (totalTokens) => ({ promptTokens: 1, completionTokens: totalTokens - 1, totalTokens, reasoningTokens: 0 });
const ids = ['fine', 'held', 'failing', 'unreported', 'half-reported', 'untold'];

const held = (signal) =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    globalThis.limitsTest?.(resolve);
  });

const define = (capability, supports, work) => ({
  contract: 1,
  name: 'limits-' + capability,
  capability,
  options: { type: 'object', properties: {} },
  create: () => ({
    models: ids.map((id) => ({ id, local: true, supports })),
    ...work,
  }),
});

export default [
  define('chat', [], {
    async *complete({ model }, { signal, onUsage }) {
      yield { type: 'step-started', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'Hi.' };
      if (model === 'untold') {
        yield { type: 'content-delta', step: 0, delta: 'x'.repeat(392) };
        await held(signal);
      }
      if (model === 'held' || model === 'failing') onUsage?.(usage(7));
      if (model === 'held') await held(signal);
      if (model === 'failing') throw new TypeError('a defect of the engine');
      if (model === 'half-reported') {
        onUsage?.(usage(7));
        yield { type: 'step-started', step: 1 };
        yield { type: 'content-delta', step: 1, delta: 'Hi.' };
      }
      const counted = model === 'unreported' ? null : usage(model === 'half-reported' ? 7 : 10);
      yield { type: 'completed', result: { content: 'Hi.', finishReason: 'stop', reasoning: null, usage: counted } };
    },
  }),
  define('transcription', ['segment'], {
    async transcribe({ model }, { signal, onSegment, onProgress }) {
      if (model === 'held' || model === 'failing') onProgress?.(30_000, 60_000);
      if (model === 'held') await held(signal);
      if (model === 'failing') throw new TypeError('a defect of the engine');
      onSegment?.({ startMs: 0, endMs: 1_000, text: 'Hi.' });
      return { text: 'Hi.', language: null, ...(model !== 'unreported' && { durationMs: 60_000 }) };
    },
  }),
];
`;

export type Keys = Readonly<Record<string, KeyLimits>>;

export function startLimited(keys: Keys, options: TestServiceOptions = {}): Promise<TestService> {
  const entries = Object.entries(keys).map(([name, limits]) => ({ name, limits }));
  return startTestService({
    ...options,
    env: { API_KEYS_FILE: 'keys.json', ...options.env },
    config: 'engines: { limits: { use: ./limits.mjs } }\n',
    files: { 'limits.mjs': engines, 'keys.json': keysFile(...entries), ...options.files },
  });
}

export const as = (name: string) => bearer(tokenOf(name));

export const hello = (model = 'fine') => ({ model, messages: [{ role: 'user', content: 'Hello' }] });

interface Held {
  /** Whom the calls that are held work for. */
  readonly callers: readonly string[];
  /** Resolves when so many calls of the model \`held\` are running. */
  wait(calls: number): Promise<void>;
  release(): void;
}

/** Holds the calls of the model `held`. One test at a time. */
export function hold(): Held {
  const callers: string[] = [];
  let releases: (() => void)[] = [];
  let wake = (): void => undefined;
  (globalThis as { limitsTest?: (release: () => void) => void }).limitsTest = (release) => {
    callers.push(currentCaller());
    releases.push(release);
    wake();
  };
  return {
    callers,
    async wait(calls) {
      while (releases.length < calls) await new Promise<void>((resolve) => (wake = resolve));
    },
    release() {
      for (const release of releases) release();
      releases = [];
    },
  };
}
