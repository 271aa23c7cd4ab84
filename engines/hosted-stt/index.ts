/** Hosted transcription: any provider with OpenAI's /audio/transcriptions. Recordings leave this machine. */
import { EngineError, defineEngine, type EngineContext, type TranscriptionEngine } from '../contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { inspectProvider } from '../lib/provider/inspect.ts';
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
  const { timeout = defaultTimeout, local = false, path = defaultPath } = options;
  const models = options.models.map(toModel);
  const provider = createProvider(options, context);
  const queue = context.queue({ slots: context.cores, waiting: 1024 });

  function modelOf(id: string): Model {
    const model = models.find((candidate) => candidate.id === id);
    if (!model) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
    return model;
  }

  const availability = ({ id }: Model) => Promise.resolve(provider.availability(id));
  const late = () => new EngineError('provider-timeout', `The provider did not answer within ${String(timeout)} s.`);

  return {
    models: () => Promise.resolve(models.map(({ id, name }) => ({ id, local, ...(name !== undefined && { name }) }))),
    availability: async (id) => availability(modelOf(id)),
    async transcribe(call, { signal }) {
      const model = modelOf(call.model);
      const { code, reason } = provider.availability(model.id);
      if (code === 'key-missing') throw new EngineError('model-unavailable', reason);
      model.check(call);
      using deadline = startTimeout(timeout * 1000, late, signal);
      return await transcribe(call, model, { provider, path, queue }, deadline.signal);
    },
    inspect: async () => [await inspectProvider(options, context.instance, provider)],
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
    },
  };
}
