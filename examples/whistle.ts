// whistle.ts: a local voice that whistles vowels; its model is downloaded, and a program keeps it loaded
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineEngine, EngineError, type Asset } from '@parlance/server/engine';

const host = fileURLToPath(new URL('whistle-host.mjs', import.meta.url));
const bytes = 53;

export default defineEngine<'speech', { mirror?: string }>({
  contract: 1,
  name: 'whistle',
  capability: 'speech',
  options: {
    type: 'object',
    properties: {
      mirror: { type: 'string', pattern: '^https?://', description: 'Where the model is downloaded from.' },
    },
    additionalProperties: false,
  },
  create({ mirror = 'https://example.com/models' }, context) {
    const path = join(context.dataDir, 'models', 'whistle.json');
    const digest = 'ac4e3f10da81f9ae9c9bc3e517be6b2b55497000246b818648deed341edd163d';
    const model: Asset = {
      kind: 'files',
      id: 'whistle',
      title: 'Whistled vowels',
      bytes,
      license: 'CC0-1.0',
      files: [{ url: `${mirror}/whistle.json`, path, bytes, digest }],
      isReady: () => existsSync(path),
    };
    const queue = context.queue({ slots: 1, waiting: 16 });

    function loaded() {
      if (!existsSync(path)) throw new EngineError('model-unavailable', 'The model is not installed.');
      const program = { program: process.execPath, args: [host, path], version: String(statSync(path).mtimeMs) };
      const facts = { memory: 60_000_000, idleUnloadMs: 300_000 };
      return context.resident({ name: 'whistle', model: 'whistle', ...program, files: [path], ...facts });
    }

    return {
      assets: [{ id: 'whistle', assets: [model], isConfigured: true }],
      models: [{ id: 'whistle', name: 'Whistle', local: true, needs: ['whistle'] }], // the service calls isReady()
      async synthesize({ text, model: id, voice, language, format }, { signal }) {
        if (id !== 'whistle') throw new EngineError('unknown-model', `Unknown model ${id}.`);
        if (voice !== undefined) throw new EngineError('voice-not-supported', 'It has one voice.');
        if (language !== undefined) throw new EngineError('language-not-supported', 'It speaks no language.');
        const parts: Int16Array[] = [];
        const onMessage = ({ samples }: Readonly<Record<string, unknown>>) => {
          const chunk = Uint8Array.from(Buffer.from(String(samples), 'base64'));
          parts.push(new Int16Array(chunk.buffer));
        };
        await queue.run(() => loaded().call({ text }, { signal, onMessage }), { signal });
        async function* all() {
          yield* parts;
        }
        return context.encode({ sampleRate: 16_000, samples: all() }, format, { signal });
      },
    };
  },
});
