/** Silero's real weights, downloaded as `npm run setup` does: once a machine, into the cache of the repository. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installWeights, weightsPath } from '../../engines/lib/voice-activity/weights.ts';
import { streamProgram } from '../../src/system/child-process/stream-program.ts';

/** Returns their path. Concurrent calls download it once. */
export async function sileroWeights(): Promise<string> {
  const { XDG_CACHE_HOME = join(homedir(), '.cache') } = process.env;
  const dataDir = join(XDG_CACHE_HOME, 'parlance');
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const context = { dataDir, env: process.env, start: streamProgram, log };
  await installWeights(context, { signal: AbortSignal.timeout(60_000) });
  return weightsPath(dataDir);
}
