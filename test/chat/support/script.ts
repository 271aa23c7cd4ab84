/** A chat engine that does what the message tells it to: one event, failure or wait after the other. */
import type { AgentEvent, EngineErrorCode } from '../../../engines/contract/index.ts';
import type { TestServiceOptions } from '../../support/service.ts';

export type Action =
  | { readonly emit: unknown }
  | { readonly fail: EngineErrorCode; readonly message?: string; readonly retryAfter?: number }
  /** Throws what no contract foresees. */
  | { readonly crash: string }
  /** Milliseconds; `signal` waits until it aborts, `ever` does not even look at it. */
  | { readonly wait: number | 'signal' | 'ever' }
  /** So many deltas of 64 KB, of the content of step 0; it logs `produced` with each. */
  | { readonly flood: number };

export type Script = readonly Action[];

/**
 * Serves `scripted`, the default, and `offline`, which is not available. Logs `began` with its call, `aborted` when
 * its signal does, and `ended` when it is left.
 */
export const scripted: Required<Pick<TestServiceOptions, 'config' | 'files'>> = {
  config: 'engines: { scripted: { use: ./scripted.mjs } }\n',
  files: {
    'scripted.mjs': `
import { setTimeout as wait } from 'node:timers/promises';

const offline = { available: false, code: 'key-missing', reason: 'It has no key.' };

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
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create(options, { log }) {
    return {
      models: [{ id: 'scripted', local: true }, { id: 'offline', local: true, availability: offline }],
      async *complete(call, { signal, tools }) {
        log.info({ call: { ...call, messages: call.messages.length }, tools: tools.length }, 'began');
        signal.addEventListener('abort', () => log.info({ reason: signal.reason.name }, 'aborted'));
        try {
          for (const action of JSON.parse(call.messages.at(-1).content)) {
            if ('emit' in action) yield action.emit;
            if ('fail' in action) throw engineError(action);
            if ('crash' in action) throw new TypeError(action.crash);
            if (action.wait === 'ever') await new Promise(() => {});
            else if (action.wait === 'signal') await wait(60_000, undefined, { signal });
            else if ('wait' in action) await wait(action.wait, undefined, { signal });
            for (let count = 1; count <= (action.flood ?? 0); count++) {
              log.debug({ count }, 'produced');
              yield { type: 'content-delta', step: 0, delta: 'x'.repeat(65_536) };
            }
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

/** The request whose answer the script is. */
export function chatOf(script: Script): { messages: { role: 'user'; content: string }[] } {
  return { messages: [{ role: 'user', content: JSON.stringify(script) }] };
}

/** Held to the engine contract by its type. */
export const emit = (event: AgentEvent): Action => ({ emit: event });

export const stepStarted = (step: number): Action => emit({ type: 'step-started', step });
export const content = (step: number, delta: string): Action => emit({ type: 'content-delta', step, delta });
export const reasoning = (step: number, delta: string): Action => emit({ type: 'reasoning-delta', step, delta });
export const toolStarted = (step: number, call: number, name = 'read_aloud'): Action =>
  emit({ type: 'tool-started', step, call, name, arguments: { text: 'Hi' } });
export const toolFinished = (step: number, call: number, name = 'read_aloud'): Action =>
  emit({ type: 'tool-finished', step, call, name, ok: true, output: 'done', durationMs: 1.4 });
export const audio = (step: number, call: number, id: string, mediaType = 'audio/mpeg'): Action =>
  emit({ type: 'tool-event', step, call, event: { type: 'audio', clip: { id, mediaType } } });
export const completed = (text: string, reasoning: string | null = null): Action =>
  emit({ type: 'completed', result: { content: text, finishReason: 'stop', reasoning, usage: null } });

/** A run of one step, whole. */
export const hello: Script = [stepStarted(0), content(0, 'Hel'), content(0, 'lo.'), completed('Hello.')];
