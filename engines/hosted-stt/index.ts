/** Hosted transcription by any provider with OpenAI's /audio/transcriptions. Recordings are sent to the provider. */
import {
  EngineError,
  defineEngine,
  type EngineContext,
  type ModelEntry,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { entryOf, serveModels } from '../lib/serve-models.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
import { createLocality, refreshLocality } from '../lib/provider/locality.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { toModel, type Model } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { transcribe } from './transcribe.ts';

const defaultTimeout = 300;
const defaultPath = '/audio/transcriptions';

export default defineEngine<'transcription', Options>({
  contract: 1,
  name: 'hosted-stt',
  capability: 'transcription',
  options: optionsSchema,
  create: (options, context) => createHosted(options, context),
});

function createHosted(options: Options, context: EngineContext): TranscriptionEngine {
  const { timeout = defaultTimeout, path = defaultPath } = options;
  const models = options.models.map(toModel);
  const provider = createProvider(options, context);
  const locality = createLocality(options, provider);
  const refreshing = refreshLocality(locality, context);
  const queue = context.queue({ slots: context.cores, waiting: 1024 });
  const toEntry = (model: Model): ModelEntry => ({
    ...{ ...entryOf(model, locality.of(model.remoteId)), supports: model.supports() },
    ...(model.languages && { languages: model.languages }),
  });
  const { modelOf, ...served } = serveModels(
    {
      find: (id) => models.find((model) => model.id === id),
      async entries() {
        await refreshing.refresh();
        return models.map(toEntry);
      },
    },
    ({ id }) => provider.availability(id),
  );
  const late = () => new EngineError('provider-timeout', `The provider did not answer within ${String(timeout)} s.`);

  return {
    ...served,
    async transcribe(call, { signal }) {
      const model = modelOf(call.model);
      provider.expectKey(model.id);
      model.check(call);
      using deadline = startTimeout(timeout * 1000, late, signal);
      return await transcribe(call, model, { provider, path, queue, log: context.log }, deadline.signal);
    },
    inspect: async () => [await inspectProvider(options, context.instance, provider)],
    async [Symbol.asyncDispose]() {
      refreshing[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
