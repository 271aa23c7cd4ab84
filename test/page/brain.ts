/** A chat engine with things to install; each waits for the test. */
import { expect } from 'vitest';

/** Waits for the process to emit `brain-comes` or `brain-breaks`; with `brain-goes`, it is removed. */
export const brain = `
let isThere = false;
const bytes = 397_000_000;
export default {
  contract: 1,
  name: 'brain',
  capability: 'chat',
  options: { type: 'object', properties: {} },
  create: (_options, { dataDir, publish }) => {
    const missing = { available: false, code: 'model-file-missing', reason: 'The model is missing.' };
    const entry = () => ({ id: 'brain', local: true, ...(!isThere && { availability: missing }) });
    const group = (id, title, bytes, license, more) => ({ id, title, ...more, assets: [{
      ...{ kind: 'made', id, title, bytes, license, verb: 'downloading', source: 'example.com', path: dataDir + '/' + id },
      isReady: () => id === 'brain' && isThere,
      async make({ signal, progress }) {
        progress(0.42);
        await new Promise((resolve, reject) => {
          process.once('brain-comes', resolve);
          process.once('brain-breaks', () => reject(new Error('downloading <b>brain.gguf</b>: 404 Not Found')));
          signal.addEventListener('abort', () => reject(signal.reason));
        }).finally(() => ['brain-comes', 'brain-breaks'].forEach((event) => process.removeAllListeners(event)));
        isThere = true;
        process.once('brain-goes', () => (isThere = false));
      },
    }] });
    return {
    models: [entry()],
    recheck: async () => publish([entry()]),
    assets: [
      group('brain', 'Brain 1', bytes, 'Apache-2.0', { isConfigured: true, model: 'brain', purpose: 'Good for <i>thinking</i>.' }),
      group('large-brain', '<img src=x>', 8 * bytes, 'MIT'),
      group('odd-brain', 'Brain of unknown size', null, 'MIT'),
    ],
    complete() {},
    };
  },
};
`;

/** Emits the event once the engine waits for it. */
export async function emit(event: 'brain-comes' | 'brain-breaks' | 'brain-goes'): Promise<void> {
  await expect.poll(() => process.listenerCount(event)).toBeGreaterThan(0);
  (process as NodeJS.EventEmitter).emit(event);
}
