/** A model that does what the last message says, in the loop in which real ones run. */
import { EngineError, defineEngine, type ChatCall, type ChatEngine } from '../contract/index.ts';
import { runLoop, type RoundStream, type Conversation, type Delta, type Round } from '../lib/agent/loop.ts';
import { endable } from '../lib/agent/endable.ts';
import { pause } from '../../lib/pause.ts';
import { createCatalogue, optionsSchema } from './models.ts';
import { readScript } from './script.ts';

const maxSteps = 8;
/** Milliseconds that a word takes: they come one by one, as from a real model. */
const usualMs = 2;
const slowMs = 500;
/** Of a longer answer, several words come at once: the longest message is echoed within a second or so, too. */
const mostPauses = 500;

export const chat = defineEngine<'chat', object>({
  contract: 1,
  name: 'sandbox',
  capability: 'chat',
  options: optionsSchema,
  create: () => createChat(),
});

function createChat(): ChatEngine {
  const { isSlow, ...catalogue } = createCatalogue('sandbox-chat');
  return {
    ...catalogue,
    complete: (call, { signal, tools }) =>
      endable((own) => {
        const pace = isSlow(call.model) ? { ms: slowMs, pauses: Infinity } : { ms: usualMs, pauses: mostPauses };
        const conversation = converse(call, pace);
        return runLoop({ conversation, tools, maxSteps }, own);
      }, signal),
  };
}

interface Pace {
  /** Before each word. */
  readonly ms: number;
  readonly pauses: number;
}

function converse({ messages, maxTokens = Infinity }: ChatCall, pace: Pace): Conversation {
  const message = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const script = readScript(message);
  /** What the model has read so far. */
  const read = messages.map(({ content }) => content);
  /** What its tools said. */
  const heard: string[] = [];

  /** First what it thinks and does, then what it says. */
  function nextRound(): Round {
    const isFirst = heard.length === 0;
    const calls = isFirst ? script.calls : [];
    const reasoning = isFirst ? wordsOf(script.reasoning) : [];
    const content = calls.length > 0 ? [] : wordsOf([`You said: ${message}`, ...heard].join('\n'));
    const thought = reasoning.slice(0, maxTokens);
    const spoken = content.slice(0, maxTokens - thought.length);
    const isCut = thought.length + spoken.length < reasoning.length + content.length;
    const completionTokens = thought.length + spoken.length;
    const promptTokens = read.reduce((sum, text) => sum + wordsOf(text).length, 0);
    return {
      reasoning: thought.join(''),
      content: spoken.join(''),
      calls: calls.map((call, index) => ({ id: `call-${index}`, ...call })),
      finish: isCut ? 'length' : 'stop',
      usage: {
        promptTokens,
        completionTokens,
        totalTokens: promptTokens + completionTokens,
        reasoningTokens: thought.length,
      },
    };
  }

  async function* tell({ reasoning, content }: Round, signal: AbortSignal): AsyncGenerator<readonly Delta[]> {
    const thoughts = wordsOf(reasoning).map((delta): Delta => ({ type: 'reasoning-delta', delta }));
    const words = wordsOf(content).map((delta): Delta => ({ type: 'content-delta', delta }));
    const deltas = [...thoughts, ...words];
    const atOnce = Math.max(1, Math.ceil(deltas.length / pace.pauses));
    for (let at = 0; at < deltas.length; at += atOnce) {
      const next = deltas.slice(at, at + atOnce);
      await pause(pace.ms, signal);
      yield next;
      if (script.failure !== undefined && next.some(({ type }) => type === 'content-delta')) {
        throw new EngineError(script.failure, `Sandbox: the message asks for the failure ${script.failure}.`);
      }
    }
  }

  return {
    ask(_isLast, signal): RoundStream {
      const round = nextRound();
      return { deltas: tell(round, signal), end: () => round };
    },
    append({ calls }, outputs) {
      const lines = calls.map(({ name }, index) => `${name} said: ${outputs[index] ?? ''}`);
      heard.push(...lines);
      read.push(...lines);
    },
  };
}

/** The tokens of this model: words with the space before them. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
