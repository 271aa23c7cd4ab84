/** Chat: our agent loop over any provider with OpenAI's /chat/completions or /responses. */
import {
  defineEngine,
  type AgentEvent,
  type ChatCall,
  type ChatEngine,
  type EngineContext,
  type Finding,
  type Tool,
} from '../contract/index.ts';
import { runLoop } from '../lib/agent/loop.ts';
import { endable } from '../lib/agent/endable.ts';
import { serveModels } from '../lib/serve-models.ts';
import { describeFailure, describeProvider, inspectProvider } from '../lib/provider/inspect.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { converse } from './ask.ts';
import { chatCompletions } from './chat-completions.ts';
import { startDiscovery, type Discovery } from './discovery.ts';
import { createCatalogue } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { responses } from './responses.ts';

const defaultTimeout = 600;
const defaultIdleTimeout = 120;
const defaultMaxSteps = 8;

const loopback = /^https?:\/\/(localhost|127\.|\[::1\])/;

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
  const lists = discover && options.apiKey !== '';
  const discovery = lists
    ? startDiscovery({ provider, filter, isHere: loopback.test(options.baseUrl), context })
    : undefined;
  const catalogue = createCatalogue(options, discovery);
  const { modelOf, ...served } = serveModels(catalogue, ({ id }) => provider.availability(id));

  function run(
    call: ChatCall,
    tools: readonly Tool[],
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const model = modelOf(call.model);
    provider.expectKey(model.id);
    const { path, createHistory } = dialects[model.api];
    const asking = { provider, path, model, timeout, idleTimeout, log: context.log };
    const conversation = converse(createHistory(call, model, tools), asking);
    return runLoop({ conversation, tools, maxSteps }, signal);
  }

  return {
    ...served,
    complete: (call, { signal, tools }) => endable((own) => run(call, tools, own), signal),
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

/** A provider that lists its models is asked whether it does. */
async function inspectList(finding: Finding, discovery: Discovery): Promise<Finding> {
  try {
    const ids = await discovery.ask();
    return { ...finding, ok: ids.length > 0, detail: `${finding.detail}, serves ${ids.length} of its models` };
  } catch (error) {
    return describeFailure({ ...finding, detail: `${finding.detail}, does not list its models` }, error);
  }
}
