// Loaded before the service (node --import): its code expects the test's files instead of the published ones, whose
// bytes no test can have, and repeats a download sooner. Only the constants whose variables are set change.
import { registerHooks } from 'node:module';

const { MODEL_SHA1, SOURCE_INTEGRITY, FIRST_DELAY_MS } = process.env;
const changes = {
  'engines/whisper-cli/catalog.ts': [/(?<=\bbase: whisper\('base', \{[^}]*digest: ')[0-9a-f]{40}/, MODEL_SHA1],
  'engines/whisper-cli/source.ts': [/(?<=integrity: ')sha512-[^']+/, SOURCE_INTEGRITY],
  'src/engine-host/assets/download.ts': [/(?<=firstDelayMs: )[\d_]+/, FIRST_DELAY_MS],
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const [, change] = Object.entries(changes).find(([path]) => url.endsWith(path)) ?? [];
    if (change?.[1] === undefined) return loaded;
    const source = String(loaded.source);
    const changed = source.replace(...change);
    if (changed === source) throw new Error(`${url} has changed: ${change[0]} is not in it`);
    return { ...loaded, source: changed };
  },
});
