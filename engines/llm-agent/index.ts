/** Chat: our agent loop over any provider that supports OpenAI's /chat/completions or /responses. */
import { defineEngine, type ChatCall, type ChatEngine, type EngineContext } from '../contract/index.ts';
import { complete, type ToolOffer } from '../lib/agent/complete.ts';
import { createLocality, unknownPlace } from '../lib/provider/locality.ts';
import { openProviderModels } from '../lib/provider/provider-models.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { converse } from './request.ts';
import { requireTools } from './caller-tools.ts';
import { chatCompletions } from './chat-completions.ts';
import { createDiscovery } from './discovery.ts';
import { inspectChat } from './inspect.ts';
import { createCatalog } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { responses } from './responses.ts';

const defaultTimeout = 600;
const defaultIdleTimeout = 120;
const defaultMaxSteps = 8;

const dialects = { chat: chatCompletions, responses };

export default defineEngine<'chat', Options>({
  contract: 1,
  name: 'llm-agent',
  capability: 'chat',
  options: optionsSchema,
  create: (options, context) => createAgent(options, context),
});

async function createAgent(options: Options, context: EngineContext): Promise<ChatEngine> {
  const { timeout = defaultTimeout, idleTimeout = defaultIdleTimeout, maxSteps = defaultMaxSteps } = options;
  const { modelFilter: filter, discover = options.models === undefined } = options;
  const { log } = context;
  const provider = createProvider(options, context);
  const locality = createLocality(options, provider);
  const canList = discover && options.apiKey !== '';
  const discovery = canList
    ? createDiscovery({ provider, locality, filter, isOnlySource: options.models === undefined, log })
    : undefined;
  const { entries, modelOf } = createCatalog(options, locality, discovery);
  const source = discovery ?? {
    fetch: locality.ask,
    onFailure: (err: unknown) => log.debug({ err }, unknownPlace),
  };
  const published = await openProviderModels({ provider, entries, ...source }, context);

  function begin(call: ChatCall, { tools, returnsCalls }: ToolOffer) {
    const model = modelOf(call.model);
    provider.expectKey(model.id);
    if (returnsCalls) requireTools(model, call.toolChoice);
    const { path, createHistory } = dialects[model.api];
    const asking = { provider, path, model, timeout, idleTimeout, returnsCalls, log: context.log };
    return { conversation: converse(createHistory(call, model, tools), asking), maxSteps };
  }

  return {
    models: published.models,
    recheck: published.recheck,
    complete: (call, options) => complete(call, options, (offer) => begin(call, offer)),
    inspect: () => inspectChat(options, context.instance, provider, discovery !== undefined),
    async [Symbol.asyncDispose]() {
      published[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
