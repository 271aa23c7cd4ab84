/**
 * Chat on this machine: llama.cpp in a resident program, with the service's agent loop. The conversation stays on this
 * machine.
 */
import {
  EngineError,
  defineEngine,
  type CallerTool,
  type ChatCall,
  type ChatEngine,
  type ChatOptions,
  type EngineContext,
  type Resident,
  type Tool,
} from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { complete, offerOf, type ToolOffer } from '../lib/agent/complete.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { openLocalModels, programOf, pulledId, unavailable } from '../lib/local-models.ts';
import { catalog, part } from './catalog.ts';
import { converse, toFunction, toWarmUp, type Ask } from './conversation.ts';
import type { HostOptions } from './host.ts';
import { openLibrary } from './library.ts';
import { inspectModel, needOf, toModel, type Model, type UsableModel } from './models.ts';
import { defaultModels, optionsSchema, type Options } from './options.ts';

const defaultThoughtTokens = 512;
/** A canceled call ends with its piece of the prompt. A program that takes longer than this hangs. */
const confirmMs = 10_000;

export default defineEngine<'chat', Options>({
  contract: 1,
  name: 'llama-local',
  capability: 'chat',
  options: optionsSchema,
  create: (options, context) => createChat(options, context),
});

async function createChat(options: Options, context: EngineContext): Promise<ChatEngine> {
  const { contextSize = 4_096, slots = 1, waiting = 8, idleUnload = 600, timeout = 600, maxSteps = 8 } = options;
  const threads = options.threads ?? Math.max(1, Math.floor(context.cores / 2));
  const thoughtTokens = thoughtTokensOf(options.reasoning);
  const queue = context.queue({ slots, waiting, threads });
  const library = openLibrary(options.runtime, context);
  const facts = { contextSize, slots, mirror: options.mirror };
  const configured = (options.models ?? defaultModels).map((model) => toModel(model, facts, context));
  const isListed = (id: string) => configured.some(({ downloads }) => downloads.some((asset) => asset.id === id));
  const others = catalog.ids
    .filter((id) => !isListed(id))
    .map((id) => toModel({ id: pulledId(id), model: id }, facts, context));
  const { models, modelOf, recheck, groupsOf } = await openLocalModels(context, {
    ...{ catalog, configured, others, pulled: options.pulled, base: library.asset ? [library.asset] : [] },
    look: () => library.look(),
    problem() {
      const reason = library.problem();
      return reason === undefined ? undefined : unavailable('program-missing', reason);
    },
    describe: () => ({ supports: ['tools'] }),
    toServe: (_, { id }) => ({ model: id, settings: `engines.${context.instance}.models:\n  - ${id}` }),
  });

  async function openResident(model: Model): Promise<Resident> {
    const file = await model.inspect();
    if (!file.ok) throw new EngineError('model-unavailable', `${file.detail}.`);
    return residentOf(model, file);
  }

  function residentOf(model: Model, found: UsableModel): Resident {
    const gpu = typeof options.gpu === 'string' ? options.gpu : false;
    const own: HostOptions = {
      library: library.open(),
      model: model.file,
      contextSize,
      sequences: slots,
      threads,
      gpu,
      thoughtTokens,
    };
    const command = scriptCommand('host', import.meta.url, JSON.stringify(own));
    const memory = needOf(found, { contextSize, slots });
    return context.resident({ ...programOf(model, found, idleUnload), ...command, memory, confirmMs });
  }

  const late = () => new EngineError('engine-timeout', `The model did not answer within ${timeout} s.`);
  /** The signals of the rounds that wait or run. A canceled one lasts until the program has confirmed that. */
  const rounds = new Set<AbortSignal>();
  let warming = new AbortController();

  /** Waits for a slot in each round, so that the tools of one run do not block other runs. */
  function createAsk(model: Model): Ask {
    return async (question, onMessage, signal) => {
      rounds.add(signal);
      warming.abort(new Error('a call has begun'));
      try {
        const resident = await openResident(model);
        return await queue.run(
          async () => {
            using limited = startTimeout(1000 * timeout, late, signal);
            const answer = await resident.call({ ...question }, { signal: limited.signal, onMessage });
            context.log.debug({ model: model.id, ...countsOf(answer) }, 'a model has answered');
            return answer;
          },
          { signal },
        );
      } finally {
        rounds.delete(signal);
      }
    };
  }

  /** Needs no slot: the next round, or another warm-up, ends it. The program keeps what was read. */
  async function warmUp(call: ChatCall, { signal, tools }: Pick<ChatOptions, 'signal' | 'tools'>): Promise<void> {
    warming.abort(new Error('another warm-up has begun'));
    const { signal: ended } = (warming = new AbortController());
    const model = modelOf(call.model);
    const question = toWarmUp(call, promptOptions(call, offerOf(call, tools)));
    const resident = await openResident(model);
    const isBusy = [...rounds].some(({ aborted }) => !aborted) || (resident.state === 'unloaded' && !resident.isFree);
    if (isBusy) return;
    try {
      using limited = startTimeout(1000 * timeout, late, signal, ended);
      const answer = await resident.call(question, { signal: limited.signal });
      context.log.debug({ model: model.id, ...countsOf(answer) }, 'a warm-up has ended');
    } catch (error) {
      if (!ended.aborted) throw error;
    }
  }

  function begin(call: ChatCall, offer: ToolOffer) {
    const asking = { ask: createAsk(modelOf(call.model)), ...promptOptions(call, offer) };
    return { conversation: converse(call, asking), maxSteps };
  }

  function promptOptions({ model, toolChoice = 'auto' }: ChatCall, { tools, returnsCalls }: ToolOffer) {
    if (toolChoice !== 'auto' && toolChoice !== 'none' && returnsCalls) {
      throw new EngineError('parameter-not-supported', `The model ${model} calls tools by its own choice only.`);
    }
    const usable = returnsCalls ? tools : tools.filter(isUsable);
    const offered = returnsCalls && toolChoice === 'none' ? [] : usable;
    return { tools: offered, contextSize, reasons: thoughtTokens > 0 };
  }

  /** A tool of the service that no grammar can express is left out, because the caller did not choose it. */
  function isUsable(tool: Tool | CallerTool): boolean {
    try {
      toFunction(tool);
      return true;
    } catch {
      context.log.warn(
        { tool: tool.name.slice(0, 100) },
        'a tool with control characters in its schema is not offered to local models',
      );
      return false;
    }
  }

  return {
    models,
    recheck,
    warmUp,
    complete: (call, options) => complete(call, options, (offer) => begin(call, offer)),
    assets: groupsOf({ part }),
    inspect: async () => [
      ...library.inspect(),
      ...(await Promise.all(configured.map((model) => inspectModel(model, { contextSize, slots })))).flat(),
    ],
  };
}

function countsOf(answer: unknown) {
  const { promptTokens, readTokens, completionTokens } = answer as Readonly<Record<string, unknown>>;
  return { promptTokens, readTokens, completionTokens };
}

function thoughtTokensOf(reasoning: Options['reasoning'] = false): number {
  return typeof reasoning === 'number' ? reasoning : reasoning ? defaultThoughtTokens : 0;
}
