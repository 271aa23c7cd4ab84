/** The external speech provider: any with OpenAI's /audio/speech, or alike. The text leaves this machine. */
import { EngineError, defineEngine, type EngineContext, type SpeechEngine } from '../contract/index.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { apis } from './apis.ts';
import { toModel, type Model } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { startRemoteVoices } from './remote-voices.ts';
import { synthesize } from './synthesize.ts';

const defaultTimeout = 300;
const defaultIdleTimeout = 60;

export default defineEngine<'speech', Options>({
  contract: 1,
  name: 'tts',
  capability: 'speech',
  options: optionsSchema,
  create: (options, context) => createTts(options, context),
});

function createTts(options: Options, context: EngineContext): SpeechEngine {
  const { timeout = defaultTimeout, idleTimeout = defaultIdleTimeout, local = false } = options;
  const api = apis[options.api ?? 'openai'];
  const { path = api.path } = options;
  const provider = createProvider(options, context);
  const isListed = options.models.some((model) => typeof model === 'string' || model.voices === undefined);
  const remote = options.api === 'parlance' && isListed ? startRemoteVoices(provider, context) : undefined;
  const models = options.models.map((model) => toModel(model, api, remote));
  const tools = { provider, api, path, context, timeoutMs: timeout * 1000, idleMs: idleTimeout * 1000 };

  function modelOf(id: string): Model {
    const model = models.find((candidate) => candidate.id === id);
    if (!model) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
    return model;
  }

  const availability = ({ id }: Model) => Promise.resolve(provider.availability(id));

  return {
    async models() {
      await remote?.refresh();
      return models.map(({ entry }) => ({ ...entry(), local }));
    },
    availability: async (id) => availability(modelOf(id)),
    async synthesize(call, { signal }) {
      const model = modelOf(call.model);
      const { code, reason } = provider.availability(model.id);
      if (code === 'key-missing') throw new EngineError('model-unavailable', reason);
      return await synthesize(call, model, tools, signal);
    },
    inspect: async () => [await inspectProvider(options, context.instance, provider)],
    async [Symbol.asyncDispose]() {
      remote?.[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
