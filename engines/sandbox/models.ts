/** Shared by the three sandbox engines: a fast model and a slow one. */
import { EngineError, type Availability, type Engine, type ModelEntry, type OptionsSchema } from '../contract/index.ts';

/** No options, so that the answers are always predictable. */
export const optionsSchema: OptionsSchema = { type: 'object', properties: {}, additionalProperties: false };

export interface Catalogue extends Pick<Engine, 'models' | 'availability'> {
  /** Throws `unknown-model`. */
  readonly isSlow: (model: string) => boolean;
}

/** For example `sandbox-chat` and `sandbox-chat-slow`; the slow one is for testing spinners and stop buttons. */
export function createCatalogue(id: string, more: Pick<ModelEntry, 'voices'> = {}): Catalogue {
  const slow = `${id}-slow`;

  function isSlow(model: string): boolean {
    if (model !== id && model !== slow) {
      throw new EngineError('unknown-model', `Unknown model "${model}".`);
    }
    return model === slow;
  }

  return {
    isSlow,
    models: () => Promise.resolve([id, slow].map((one) => ({ id: one, name: nameOf(one), local: true, ...more }))),
    // eslint-disable-next-line @typescript-eslint/require-await -- async, so that an unknown model rejects
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
