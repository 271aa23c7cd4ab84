/** Chat on this machine: llama.cpp in a program that stays loaded, with our agent loop. The conversation stays here. */
import {
  EngineError,
  defineEngine,
  type Availability,
  type ChatCall,
  type ChatEngine,
  type EngineContext,
  type Resident,
} from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { complete, type Offer } from '../lib/agent/complete.ts';
import { createPreparation } from '../lib/preparation.ts';
import { scriptCommand } from '../lib/runtime/script-command.ts';
import { fixedModels, loading, readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { part } from './catalogue.ts';
import { converse, type Ask } from './conversation.ts';
import type { HostOptions } from './host.ts';
import { openLibrary } from './library.ts';
import { inspectModel, needOf, problemOf, toEntry, toModel, type Model, type UsableModel } from './models.ts';
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
  const wanted = models.flatMap(({ download }) => download ?? []);
  const preparation = createPreparation({ part, library, wanted }, context);
  const { modelOf, ...served } = serveModels(fixedModels(models, toEntry), availability);

  async function availability(model: Model): Promise<Availability> {
    const missing = library.missing();
    const file = await model.inspect();
    if (missing === undefined && file.ok) {
      const isLoading = residentOf(model, file).state === 'loading';
      return isLoading && !queue.full ? loading : readyOrBusy(queue);
    }
    if (preparation.availability) return preparation.availability;
    const unavailable = (code: Availability['code'], reason: string) => ({ available: false, code, reason: preparation.failure ?? reason }); // prettier-ignore
    // With a model of the catalogue one command installs both.
    if (!file.ok) return unavailable('model-file-missing', problemOf(model, file.detail));
    return unavailable('program-missing', missing ?? '');
  }

  function residentOf({ id, file }: Model, found: UsableModel): Resident {
    const gpu = typeof options.gpu === 'string' ? options.gpu : false;
    const own: HostOptions = { library: library.open(), model: file, contextSize, sequences: slots, threads, gpu, thoughtTokens }; // prettier-ignore
    const command = scriptCommand('host', import.meta.url, JSON.stringify(own));
    const facts = {
      version: found.stamp,
      memory: needOf(found, { contextSize, slots }),
      idleUnloadMs: 1000 * idleUnload,
    };
    const resident = context.resident?.({ name: id, ...command, ...facts });
    if (!resident) throw new EngineError('model-unavailable', 'This service does not keep programs loaded.');
    return resident;
  }

  /** Waits for a slot for each round, so that the tools of one run keep nobody waiting. */
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

  function begin(call: ChatCall, { tools, returnsCalls }: Offer) {
    const model = modelOf(call.model);
    const { toolChoice = 'auto' } = call;
    if (toolChoice !== 'auto' && toolChoice !== 'none' && returnsCalls) {
      throw new EngineError('parameter-not-supported', `The model ${model.id} calls tools by its own choice only.`);
    }
    const offered = returnsCalls && toolChoice === 'none' ? [] : tools;
    const asking = { ask: createAsk(model), tools: offered, contextSize, reasons: thoughtTokens > 0 };
    return { conversation: converse(call, asking), maxSteps };
  }

  return {
    ...served,
    complete: (call, options) => complete(call, options, (offer) => begin(call, offer)),
    preparations: () => preparation.list(),
    prepare: (call) => preparation.run(call),
    inspect: async () => [
      library.inspect(),
      ...(await Promise.all(models.map((model) => inspectModel(model, { contextSize, slots })))),
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
