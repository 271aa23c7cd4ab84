/** Hosted speech: any provider with OpenAI's /audio/speech or a similar API. The text leaves this machine. */
import { defineEngine, type EngineContext, type SpeechEngine } from '../contract/index.ts';
import { serveModels } from '../lib/serve-models.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
import { createLocality, placeOf, refreshLocality } from '../lib/provider/locality.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { apis } from './apis.ts';
import { toModel } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { startRemoteModels } from './remote-models.ts';
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
  const { timeout = defaultTimeout, idleTimeout = defaultIdleTimeout } = options;
  const api = apis[options.api ?? 'openai'];
  const { path = api.path } = options;
  const provider = createProvider(options, context);
  const remote = options.api === 'parlance' ? startRemoteModels(provider, context) : undefined;
  const locality = createLocality(options, provider);
  const refreshing = remote ?? refreshLocality(locality, context);
  const models = options.models.map((model) => toModel(model, api, remote));
  const dependencies = { provider, api, path, context, timeoutMs: timeout * 1000, idleMs: idleTimeout * 1000 };

  const { modelOf, ...served } = serveModels(
    {
      find: (id) => models.find((model) => model.id === id),
      async entries() {
        await refreshing.refresh();
        return models.map(({ entry, remoteId }) => ({
          ...entry(),
          ...(remote ? placeOf(options, remote.isLocal(remoteId)) : locality.of(remoteId)),
        }));
      },
    },
    ({ id }) => provider.availability(id),
  );

  return {
    ...served,
    async synthesize(call, { signal }) {
      const model = modelOf(call.model);
      provider.expectKey(model.id);
      return await synthesize(call, model, dependencies, signal);
    },
    inspect: async () => [await inspectProvider(options, context.instance, provider)],
    async [Symbol.asyncDispose]() {
      refreshing[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
