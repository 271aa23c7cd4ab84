/**
 * Keeps one model in memory and runs it with llama.cpp. It is a separate program, because a broken file or too little
 * memory ends its process.
 *
 * Question: `HostQuestion`. Answers: {"content": text} and {"thought": text} as they are generated; at the end
 * `HostAnswer`.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serveQuestions, type Caller, type Question } from '../lib/host-program/host-program.ts';
import { keepControlTextsPlain } from './control-tokens.ts';
import type { Functions, HistoryItem, Library, Sequence, Token } from './library-types.ts';

/** The program's only argument, as JSON. */
export interface HostOptions {
  /** The directory of the package node-llama-cpp. */
  readonly library: string;
  readonly model: string;
  /** Context size of each conversation in tokens. */
  readonly contextSize: number;
  /** Number of concurrent conversations. */
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: string | false;
  /** Maximum tokens of reasoning in an answer; 0: none. */
  readonly thoughtTokens: number;
}

export interface HostQuestion {
  readonly history: readonly HistoryItem[];
  readonly functions: Functions;
  readonly maxTokens?: number;
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  /** Only reads the prompt into the cache. */
  readonly onlyRead?: boolean;
}

export type HostAnswer =
  | { readonly tooLong: number }
  | (PromptCounts & {
      readonly finish: 'stop' | 'length';
      readonly calls: readonly { readonly name: string; readonly arguments: string }[];
      readonly completionTokens: number;
      readonly reasoningTokens: number;
    });

/** The answer to a question with `onlyRead`. */
interface PromptCounts {
  readonly promptTokens: number;
  /** Tokens of the prompt that were not in the cache. */
  readonly readTokens: number;
}

/** Context tokens to keep free: the end of an answer may need a few. */
const spareTokens = 8;

// The library must not write to stdout, which carries the protocol.
console.log = console.info = console.warn = console.error;
const options = JSON.parse(process.argv[2] ?? '') as HostOptions;
const { contextSize, thoughtTokens } = options;
const library = (await import(pathToFileURL(join(options.library, 'dist/index.js')).href)) as Library;
const llama = await library.getLlama({
  ...{ build: 'never', skipDownload: true, progressLogs: false, gpu: options.gpu, logLevel: 'error' },
  ...{ maxThreads: options.threads, logger: (_level: string, message: string) => process.stderr.write(`${message}\n`) },
});
const model = await llama.loadModel({ modelPath: options.model });
const { sequences, threads } = options;
/**
 * The library cannot be stopped within a piece of the prompt. The next question waits for the rest of a canceled piece,
 * and several callers wait for each other's pieces.
 * For a prompt of 640 tokens, the shape of Qwen3 0.6B takes 10.2 to 11.6 ms of a core per token in pieces of 256, 11.5
 * to 12.4 ms in pieces of 64, and 15 ms in pieces of 32 to 48.
 */
const pieces = {
  ...(sequences === 1 ? { ms: 500, first: 64, least: 64 } : { ms: 80, first: 32, least: 16 }),
  most: 512,
};
const context = await model.createContext({ contextSize, sequences, threads, failedCreationRemedy: false });
const free = Array.from({ length: sequences }, () => context.getSequence());
/** The signals of the questions that hold a sequence. */
const holders = new Set<AbortSignal>();
let released = Promise.withResolvers<undefined>();
const thoughts = thoughtTokens === 0 ? 'discourage' : 'auto';
const wrapper = library.resolveChatWrapper(model, {
  customWrapperSettings: { qwen: { thoughts } },
  warningLogs: false,
});
keepControlTextsPlain(wrapper, model, library);

serveQuestions((question, caller) => serve(question as Question & HostQuestion, caller));

async function serve(
  { history, functions, onlyRead, ...sampling }: HostQuestion,
  { say, signal }: Caller,
): Promise<HostAnswer | PromptCounts> {
  const given = Object.keys(functions).length === 0 ? {} : { availableFunctions: functions };
  const state = wrapper.generateContextState({ chatHistory: history, ...given, documentFunctionParams: true });
  const tokens = state.contextText.tokenize(model.tokenizer);
  if (tokens.length + spareTokens >= contextSize) return { tooLong: tokens.length };
  const sequence = await takeSequence(tokens, signal);
  try {
    const counts = { promptTokens: tokens.length, readTokens: await read(sequence, tokens, signal) };
    if (onlyRead) return counts;
    const room = contextSize - spareTokens - tokens.length;
    return { ...(await answer(sequence, { ...sampling, history, functions, room }, { say, signal })), ...counts };
  } finally {
    free.push(sequence);
    holders.delete(signal);
    released.resolve(undefined);
    released = Promise.withResolvers();
  }
}

/**
 * Resolves with the sequence that has most of the prompt in its cache, once canceled questions have released theirs.
 * There are never more other questions than sequences.
 */
async function takeSequence(tokens: readonly Token[], signal: AbortSignal): Promise<Sequence> {
  while ([...holders].some(({ aborted }) => aborted)) await released.promise;
  signal.throwIfAborted();
  const known = free.map((sequence) => sharedLength(sequence.contextTokens, tokens));
  const [best] = free.splice(known.indexOf(Math.max(...known)), 1);
  if (!best) throw new Error('more questions at once than sequences');
  holders.add(signal);
  return best;
}

function sharedLength(some: readonly Token[], others: readonly Token[]): number {
  const different = some.findIndex((token, index) => token !== others[index]);
  return different === -1 ? some.length : different;
}

/**
 * Evaluates the prompt except its last token, in pieces. Resolves with the number of tokens that were not in the cache.
 * After an abort, the cache keeps the pieces that were read.
 */
async function read(sequence: Sequence, tokens: readonly Token[], signal: AbortSignal): Promise<number> {
  await sequence.adaptStateToTokens([...tokens], false);
  const begin = Math.min(sequence.nextTokenIndex, tokens.length - 1);
  let size = pieces.first;
  for (let at = begin; at < tokens.length - 1;) {
    signal.throwIfAborted();
    const piece = tokens.slice(at, Math.min(at + size, tokens.length - 1));
    const started = performance.now();
    await sequence.evaluateWithoutGeneratingNewTokens(piece);
    at += piece.length;
    const fitting = Math.round((piece.length * pieces.ms) / (performance.now() - started));
    size = Math.max(pieces.least, Math.min(pieces.most, fitting));
  }
  signal.throwIfAborted();
  return tokens.length - begin;
}

interface Answering extends Omit<HostQuestion, 'history'> {
  readonly history: readonly HistoryItem[];
  /** Tokens that remain for the answer. */
  readonly room: number;
}

async function answer(
  contextSequence: Sequence,
  { history, functions, room, maxTokens = room, temperature, topP, topK }: Answering,
  { say, signal }: Pick<Caller, 'say' | 'signal'>,
) {
  const chat = new library.LlamaChat({ contextSequence, chatWrapper: wrapper, autoDisposeSequence: false });
  const before = contextSequence.tokenMeter.getState();
  let reasoningTokens = 0;
  const offered = Object.keys(functions).length === 0 ? {} : { functions, documentFunctionParams: true };
  try {
    const { functionCalls = [], metadata } = await chat.generateResponse([...history], {
      ...{ ...offered, signal, temperature, topP, topK, maxTokens: Math.min(maxTokens, room) },
      seed: Math.floor(Math.random() * 2 ** 32),
      budgets: { thoughtTokens },
      contextShift: { strategy: forgetNothing },
      onResponseChunk({ segmentType, text, tokens }) {
        if (segmentType !== undefined) reasoningTokens += tokens.length;
        if (text === '') return;
        if (segmentType === undefined) say({ content: text });
        else if (thoughtTokens > 0) say({ thought: text });
      },
    });
    const { usedOutputTokens: completionTokens } = contextSequence.tokenMeter.diff(before);
    const finish = metadata.stopReason === 'maxTokens' ? ('length' as const) : ('stop' as const);
    const calls = functionCalls.map(({ functionName: name, params = {} }) => ({
      name,
      arguments: JSON.stringify(params),
    }));
    return { finish, calls, completionTokens, reasoningTokens };
  } finally {
    chat.dispose({ disposeSequence: false });
  }
}

/** By default, the library silently drops the oldest messages. `maxTokens` prevents that. */
function forgetNothing(): never {
  throw new Error('the context is full');
}
