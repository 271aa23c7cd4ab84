/**
 * Chat on this machine: llama.cpp in a resident program, with the service's agent loop. The conversation stays on this
 * machine.
 */
import {
  EngineError,
  defineEngine,
  type Availability,
  type CallerTool,
  type ChatCall,
  type ChatEngine,
  type EngineContext,
  type Resident,
  type Tool,
} from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { complete, type ToolOffer } from '../lib/agent/complete.ts';
import type { NamedModel } from '../lib/catalogue.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { loading, pulledId, readyOrBusy, serveModels, withPulled } from '../lib/serve-models.ts';
import { catalogue, part } from './catalogue.ts';
import { converse, toFunction, type Ask } from './conversation.ts';
import type { HostOptions } from './host.ts';
import { openLibrary } from './library.ts';
import { inspectModel, needOf, toEntry, toModel, type Model, type UsableModel } from './models.ts';
import { defaultModels, optionsSchema, type Options } from './options.ts';

const defaultThoughtTokens = 512;

export default defineEngine<'chat', Options>({
  contract: 1,
  name: 'llama-local',
  capability: 'chat',
  options: optionsSchema,
  create: (options, context) => createChat(options, context),
});

function createChat(options: Options, context: EngineContext): ChatEngine {
  const { contextSize = 4_096, slots = 1, waiting = 8, idleUnload = 600, timeout = 600, maxSteps = 8 } = options;
  const threads = options.threads ?? Math.max(1, Math.floor(context.cores / 2));
  const thoughtTokens = thoughtTokensOf(options.reasoning);
  const queue = context.queue({ slots, waiting, threads });
  const library = openLibrary(options.runtime, context);
  const models = (options.models ?? defaultModels).map((model) => toModel(model, options.mirror, context));
  const configured = models.flatMap(({ download }) => download ?? []);
  const others = catalogue.ids
    .filter((id) => !configured.some((download) => download.id === id))
    .map((id) => toModel({ id: pulledId(id), model: id }, options.mirror, context));
  const pulled = options.pulled === true ? others : [];
  const ofLibrary = library.asset ? [library.asset] : [];
  const toNeeds = (model: Model) => toEntry(model, ofLibrary.map(({ id }) => id)); // prettier-ignore
  const { modelOf, ...served } = serveModels(withPulled(models, pulled, toNeeds), availability);

  function namedModel(model: Model): NamedModel[] {
    const { download: asset, id } = model;
    if (!asset) return [];
    if (!others.includes(model) || pulled.includes(model)) return [{ asset, model: id }];
    return [{ asset, model: asset.id, settings: `engines.${context.instance}.models:\n  - ${asset.id}` }];
  }

  /** Called only if all assets are ready. */
  async function availability(model: Model): Promise<Availability> {
    const unavailable = (code: Availability['code'], reason: string) => ({ available: false, code, reason });
    const missing = library.missing();
    if (missing !== undefined) return unavailable('program-missing', missing);
    const file = await model.inspect();
    if (!file.ok) return unavailable('model-file-missing', `${file.detail}.`);
    const isLoading = residentOf(model, file).state === 'loading';
    return isLoading && !queue.full ? loading : readyOrBusy(queue);
  }

  function residentOf({ id, file, download }: Model, found: UsableModel): Resident {
    const gpu = typeof options.gpu === 'string' ? options.gpu : false;
    const own: HostOptions = { library: library.open(), model: file, contextSize, sequences: slots, threads, gpu, thoughtTokens }; // prettier-ignore
    const command = scriptCommand('host', import.meta.url, JSON.stringify(own));
    const facts = {
      ...(download && { files: [file] }),
      version: found.stamp,
      memory: needOf(found, { contextSize, slots }),
      idleUnloadMs: 1000 * idleUnload,
    };
    return context.resident({ name: id, ...command, ...facts });
  }

  /** Waits for a slot in each round, so that the tools of one run do not block other runs. */
  function createAsk(model: Model): Ask {
    return async (question, onMessage, signal) => {
      const file = await model.inspect();
      if (!file.ok) throw new EngineError('model-unavailable', (await availability(model)).reason);
      const resident = residentOf(model, file);
      return queue.run(
        async () => {
          const late = () => new EngineError('engine-timeout', `The model did not answer within ${timeout} s.`);
          using limited = startTimeout(1000 * timeout, late, signal);
          const answer = await resident.call({ ...question }, { signal: limited.signal, onMessage });
          context.log.debug({ model: model.id, ...countsOf(answer) }, 'a model has answered');
          return answer;
        },
        { signal },
      );
    };
  }

  function begin(call: ChatCall, { tools, returnsCalls }: ToolOffer) {
    const model = modelOf(call.model);
    const { toolChoice = 'auto' } = call;
    if (toolChoice !== 'auto' && toolChoice !== 'none' && returnsCalls) {
      throw new EngineError('parameter-not-supported', `The model ${model.id} calls tools by its own choice only.`);
    }
    const usable = returnsCalls ? tools : tools.filter(isUsable);
    const offered = returnsCalls && toolChoice === 'none' ? [] : usable;
    const asking = { ask: createAsk(model), tools: offered, contextSize, reasons: thoughtTokens > 0 };
    return { conversation: converse(call, asking), maxSteps };
  }

  /** A tool of an MCP server that a grammar cannot express is left out, because the caller did not choose it. */
  function isUsable(tool: Tool | CallerTool): boolean {
    try {
      toFunction(tool);
      return true;
    } catch {
      context.log.warn({ tool: tool.name.slice(0, 100) }, 'a tool with control characters in its schema is not offered to local models'); // prettier-ignore
      return false;
    }
  }

  return {
    ...served,
    complete: (call, options) => complete(call, options, (offer) => begin(call, offer)),
    assets: catalogue.groups({ part, base: ofLibrary, configured, named: [...models, ...others].flatMap(namedModel) }),
    inspect: async () => [
      ...library.inspect(),
      ...(await Promise.all(models.map((model) => inspectModel(model, { contextSize, slots })))).flat(),
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
