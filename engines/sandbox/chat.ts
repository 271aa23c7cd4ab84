/** A scripted model that does what the last user message says, run by the same agent loop as real models. */
import { EngineError, type ChatCall, type ChatEngine, type EngineContext, type Message } from '../contract/index.ts';
import { complete } from '../lib/agent/complete.ts';
import type { Delta } from '../lib/agent/delta.ts';
import type { Conversation, Round, RoundStream } from '../lib/agent/loop.ts';
import { pause } from '../../lib/abort.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { defineSandbox, serveSandbox } from './models.ts';
import { readAnswers, type Options } from './options.ts';
import { sampleOf } from './schema-sample.ts';
import { callsFor, readScript, type Script } from './script.ts';

const maxSteps = 8;
/** Delay per word: words are streamed one by one, as by a real model. */
const normalMs = 2;
const slowMs = 500;
/** Longer answers send several words per delta, so that even the longest message is echoed in about a second. */
const maxPauses = 500;

export const chat = defineSandbox('chat', createChat);

function createChat(_context: EngineContext, options: Options): ChatEngine {
  const answerTo = readAnswers(options);
  const { models, modelOf } = serveSandbox('sandbox-chat', { supports: ['tools', 'json', 'images'] });
  return {
    models,
    complete: (call, callOptions) =>
      complete(call, callOptions, () => {
        const { isSlow } = modelOf(call.model);
        const pace = isSlow ? { ms: slowMs, pauses: Infinity } : { ms: normalMs, pauses: maxPauses };
        return { conversation: converse(call, pace, answerTo), maxSteps };
      }),
  };
}

interface Pace {
  /** Delay before each delta. */
  readonly ms: number;
  /** Maximum number of delays per answer. */
  readonly pauses: number;
}

function converse(call: ChatCall, pace: Pace, answerTo: (message: string) => Script | undefined): Conversation {
  const { messages, maxTokens = Infinity } = call;
  const last = messages.findLast(({ role }) => role === 'user');
  const message = last?.content ?? '';
  const script = answerTo(message) ?? readScript(message);
  /** The model's input so far, for the token counts. */
  const input = messages.map(({ content }) => content);
  const toolOutputs = callerOutputs(messages);

  function echo(): string {
    return [`You said: ${message}`, ...imagesIn(last), ...toolOutputs].join('\n');
  }

  /** The first round has the reasoning and the tool calls; the last one has the content. */
  function nextRound(): Round {
    const isFirst = toolOutputs.length === 0;
    const calls = isFirst ? callsFor(script, call) : [];
    const reasoning = isFirst ? wordsOf(script.reasoning) : [];
    const content = calls.length > 0 ? [] : wordsOf(upToStop(script.answer ?? shapeAnswer(echo(), call), call));
    const thought = reasoning.slice(0, maxTokens);
    const spoken = content.slice(0, maxTokens - thought.length);
    const isCut = thought.length + spoken.length < reasoning.length + content.length;
    const completionTokens = thought.length + spoken.length;
    const promptTokens = input.reduce((sum, text) => sum + wordsOf(text).length, 0);
    return {
      reasoning: thought.join(''),
      content: spoken.join(''),
      calls: calls.map((one, index) => ({ id: `call-${index}`, ...one })),
      finish: isCut ? 'length' : 'stop',
      usage: {
        promptTokens,
        completionTokens,
        totalTokens: promptTokens + completionTokens,
        reasoningTokens: thought.length,
      },
    };
  }

  async function* stream({ reasoning, content }: Round, signal: AbortSignal): AsyncGenerator<readonly Delta[]> {
    const thoughts = wordsOf(reasoning).map((delta): Delta => ({ type: 'reasoning-delta', delta }));
    const words = wordsOf(content).map((delta): Delta => ({ type: 'content-delta', delta }));
    const deltas = [...thoughts, ...words];
    const batchSize = Math.max(1, Math.ceil(deltas.length / pace.pauses));
    for (let at = 0; at < deltas.length; at += batchSize) {
      const next = deltas.slice(at, at + batchSize);
      await pause(pace.ms, signal);
      yield next;
      if (script.failure !== undefined && next.some(({ type }) => type === 'content-delta')) {
        throw new EngineError(script.failure, `Sandbox: the message asks for the failure ${script.failure}.`);
      }
    }
  }

  return {
    requestRound(_isLast, signal): RoundStream {
      const round = nextRound();
      return { deltas: stream(round, signal), end: () => round };
    },
    append({ calls }, outputs) {
      const lines = calls.map(({ name }, index) => outputLine(name, outputs[index] ?? ''));
      toolOutputs.push(...lines);
      input.push(...lines);
    },
  };
}

/** Returns the outputs of the caller's tools since the last message of the user. */
function callerOutputs(messages: readonly Message[]): string[] {
  const recent = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const calls = recent.flatMap(({ toolCalls = [] }) => toolCalls);
  return recent
    .filter(({ role }) => role === 'tool')
    .map(({ toolCallId, content }) =>
      outputLine(calls.findLast(({ id }) => id === toolCallId)?.name ?? 'tool', content),
    );
}

function imagesIn({ parts = [] }: Pick<Message, 'parts'> = {}): string[] {
  return parts.flatMap((part) => (part.type === 'image' ? [`You showed: ${part.mediaType}`] : []));
}

function outputLine(name: string, output: string): string {
  return `${name} said: ${output}`;
}

/** The tokens of this model: words with their leading white space. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** The answer as JSON, if the caller asks for it (`response_format`). */
function shapeAnswer(text: string, { provider: { response_format: format } = {} }: ChatCall): string {
  return isObject(format) ? formatted(text, format) : text;
}

function upToStop(answer: string, { provider: { stop } = {} }: ChatCall): string {
  const stops = [stop].flat().filter((one) => typeof one === 'string' && one !== '') as string[];
  const ends = stops.map((one) => answer.indexOf(one)).filter((at) => at >= 0);
  return answer.slice(0, Math.min(answer.length, ...ends));
}

function formatted(text: string, { type, json_schema: given }: JsonObject): string {
  if (type === 'json_object') return JSON.stringify({ answer: text });
  if (type !== 'json_schema') return text;
  return sampleOf(isObject(given) && isObject(given.schema) ? given.schema : {}, text);
}
