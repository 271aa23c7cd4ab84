/** Hosted speech: any provider with OpenAI's /audio/speech or a similar API. The text is sent to the provider. */
import { defineEngine, type EngineContext, type SpeechEngine } from '../contract/index.ts';
import { findModel } from '../lib/find-model.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
import { createLocality, placeOf, unknownPlace } from '../lib/provider/locality.ts';
import { openProviderModels } from '../lib/provider/provider-models.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { apis } from './apis.ts';
import { toModel } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { createRemoteModels } from './remote-models.ts';
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

async function createTts(options: Options, context: EngineContext): Promise<SpeechEngine> {
  const { timeout = defaultTimeout, idleTimeout = defaultIdleTimeout } = options;
  const api = apis[options.api ?? 'openai'];
  const { path = api.path } = options;
  const provider = createProvider(options, context);
  const remote = options.api === 'parlance' ? createRemoteModels(provider) : undefined;
  const locality = createLocality(options, provider);
  const models = options.models.map((model) => toModel(model, api, remote));
  const dependencies = { provider, api, path, context, timeoutMs: timeout * 1000, idleMs: idleTimeout * 1000 };
  const placeIn = (remoteId: string) => (remote ? placeOf(options, remote.isLocal(remoteId)) : locality.of(remoteId));
  const published = await openProviderModels(
    {
      provider,
      entries: () => models.map(({ entry, remoteId }) => ({ ...entry(), ...placeIn(remoteId) })),
      fetch: remote ? remote.fetch : locality.ask,
      onFailure: (err) =>
        context.log.debug({ err }, remote ? 'could not list the models of the other service' : unknownPlace),
    },
    context,
  );

  return {
    models: published.models,
    recheck: published.recheck,
    async synthesize(call, { signal }) {
      const model = findModel(models, call.model);
      provider.expectKey(model.id);
      return await synthesize(call, model, dependencies, signal);
    },
    inspect: async () => [await inspectProvider(options, context.instance, provider)],
    async [Symbol.asyncDispose]() {
      published[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
