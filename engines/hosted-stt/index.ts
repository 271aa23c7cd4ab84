/** Hosted transcription by any provider with OpenAI's /audio/transcriptions. Recordings are sent to the provider. */
import { EngineError, defineEngine, type EngineContext, type TranscriptionEngine } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { entryOf, fixedModels, serveModels } from '../lib/serve-models.ts';
import { isLocal } from '../lib/provider/options.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
import { createProvider } from '../lib/provider/provider.ts';
import { toModel } from './models.ts';
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
  const queue = context.queue({ slots: context.cores, waiting: 1024 });
  const { modelOf, ...served } = serveModels(
    fixedModels(models, (model) => ({
      ...{ ...entryOf(model, isLocal(options)), supports: model.supports() },
      ...(model.languages && { languages: model.languages }),
    })),
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
      await provider[Symbol.asyncDispose]();
    },
  };
}
