/** Hosted transcription by any provider with OpenAI's /audio/transcriptions. Recordings are sent to the provider. */
import {
  EngineError,
  defineEngine,
  type EngineContext,
  type ModelEntry,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { findModel } from '../lib/find-model.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
import { createLocality, unknownPlace } from '../lib/provider/locality.ts';
import { openProviderModels } from '../lib/provider/provider-models.ts';
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

async function createHosted(options: Options, context: EngineContext): Promise<TranscriptionEngine> {
  const { timeout = defaultTimeout, path = defaultPath } = options;
  const models = options.models.map(toModel);
  const provider = createProvider(options, context);
  const locality = createLocality(options, provider);
  const queue = context.queue({ slots: context.cores, waiting: 1024 });
  const published = await openProviderModels(
    {
      provider,
      entries: () => models.map((model) => ({ ...toEntry(model), ...locality.of(model.remoteId) })),
      fetch: locality.ask,
      onFailure: (err) => context.log.debug({ err }, unknownPlace),
    },
    context,
  );
  const late = () => new EngineError('provider-timeout', `The provider did not answer within ${String(timeout)} s.`);

  return {
    models: published.models,
    recheck: published.recheck,
    async transcribe(call, { signal }) {
      const model = findModel(models, call.model);
      provider.expectKey(model.id);
      model.check(call);
      using deadline = startTimeout(timeout * 1000, late, signal);
      return await transcribe(call, model, { provider, path, queue, log: context.log }, deadline.signal);
    },
    inspect: async () => [await inspectProvider(options, context.instance, provider)],
    async [Symbol.asyncDispose]() {
      published[Symbol.dispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

function toEntry({ id, name, supports, languages }: Model): Omit<ModelEntry, 'local'> {
  return { id, supports: supports(), ...(name !== undefined && { name }), ...(languages && { languages }) };
}
