/** What the three engines of the sandbox have in common: a model that answers at once, and one that takes its time. */
import { EngineError, type Availability, type Engine, type ModelEntry, type OptionsSchema } from '../contract/index.ts';

/** Nothing about it can be set: whoever tests against it knows what it answers. */
export const optionsSchema: OptionsSchema = { type: 'object', properties: {}, additionalProperties: false };

export interface Catalogue extends Pick<Engine, 'models' | 'availability'> {
  /** Throws `unknown-model`. */
  readonly isSlow: (model: string) => boolean;
}

/** `sandbox-chat` and `sandbox-chat-slow`, say; the slow one is for spinners and for buttons that stop something. */
export function createCatalogue(id: string, more: Pick<ModelEntry, 'voices' | 'supports'> = {}): Catalogue {
  const slow = `${id}-slow`;

  function isSlow(model: string): boolean {
    if (model !== id && model !== slow) {
      throw new EngineError('unknown-model', `This engine does not serve "${model}".`);
    }
    return model === slow;
  }

  return {
    isSlow,
    models: () => Promise.resolve([id, slow].map((one) => ({ id: one, name: nameOf(one), local: true, ...more }))),
    // eslint-disable-next-line @typescript-eslint/require-await -- an unknown model is to reject
    async availability(model) {
      isSlow(model);
      return ready;
    },
  };
}

const ready: Availability = { available: true, code: 'ready', reason: 'Sandbox: answers are made up.' };

function nameOf(id: string): string {
  return id.replaceAll('-', ' ').replace(/^s/, 'S');
}
