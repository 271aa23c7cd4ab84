/** Chat: our agent loop over any provider that supports OpenAI's /chat/completions or /responses. */
import {
  EngineError,
  defineEngine,
  type AgentEvent,
  type ChatCall,
  type ChatEngine,
  type EngineContext,
  type Finding,
  type Tool,
} from '../contract/index.ts';
import { abortable } from '../../lib/abort.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { runLoop } from '../lib/agent/loop.ts';
import { describeFailure, describeProvider, inspectProvider } from '../lib/provider/inspect.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { askable } from './ask.ts';
import { chatCompletions } from './chat-completions.ts';
import { startDiscovery, type Discovery } from './discovery.ts';
import { createCatalogue, type Model } from './models.ts';
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

function createAgent(options: Options, context: EngineContext): ChatEngine {
  const { timeout = defaultTimeout, idleTimeout = defaultIdleTimeout, maxSteps = defaultMaxSteps } = options;
  const { modelFilter: filter, discover = options.models === undefined } = options;
  const provider = createProvider(options, context);
  const canList = discover && options.apiKey !== '';
  const discovery = canList
    ? startDiscovery({ provider, filter, isLoopback: isLoopback(new URL(options.baseUrl).hostname), context })
    : undefined;
  const catalogue = createCatalogue(options, discovery);

  function modelOf(id: string): Model {
    const model = catalogue.find(id);
    if (!model) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
    return model;
  }

  function run(
    call: ChatCall,
    tools: readonly Tool[],
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const model = modelOf(call.model);
    const { code, reason } = provider.availability(model.id);
    if (code === 'key-missing') throw new EngineError('model-unavailable', reason);
    const { path, converse } = dialects[model.api];
    const asking = { provider, path, model, timeout, idleTimeout, log: context.log };
    const conversation = askable(converse(call, model, tools), asking);
    return runLoop({ conversation, tools, maxSteps }, signal);
  }

  return {
    models: () => catalogue.entries(),
    // eslint-disable-next-line @typescript-eslint/require-await -- async, so that an unknown model rejects
    availability: async (id) => provider.availability(modelOf(id).id),
    complete: (call, { signal, tools }) =>
      abortable(
        (own) => run(call, tools, own),
        signal,
        ({ type }) => type === 'completed',
      ),
    inspect: async () => {
      const { instance } = context;
      if (discovery === undefined) return [await inspectProvider(options, instance, provider)];
      return [await inspectList(describeProvider(options, instance), discovery)];
    },
    async [Symbol.asyncDispose]() {
      discovery?.[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** With discovery, doctor checks that the provider lists its models. */
async function inspectList(finding: Finding, discovery: Discovery): Promise<Finding> {
  try {
    const ids = await discovery.fetch();
    return { ...finding, ok: ids.length > 0, detail: `${finding.detail}, serves ${ids.length} of its models` };
  } catch (error) {
    return describeFailure({ ...finding, detail: `${finding.detail}, does not list its models` }, error);
  }
}
