import { EngineError, type EngineContext } from '../contract/index.ts';
import { lastLine } from '../../lib/text.ts';
import type { Synthesizer } from './synthesizer.ts';
import { readVoices, type EspeakVoice } from './voices.ts';

const timeoutMs = 10_000;

/** Cache of the voices of each synthesizer. */
export function createCatalog(context: Pick<EngineContext, 'run'>) {
  const cache = new Map<string, Promise<readonly EspeakVoice[]>>();
  const ending = new AbortController();

  async function list({ what, command: [program, ...args], env }: Synthesizer): Promise<readonly EspeakVoice[]> {
    const call = { signal: ending.signal, timeoutMs, cwd: '/', env };
    const { code, stdout, stderr } = await context.run(program, [...args, '--voices'], call);
    const voices = readVoices(stdout);
    if (code === 0 && voices.length > 0) return voices;
    const cause = new Error(`${what} --voices: exit ${String(code)}: ${lastLine(stderr)}`);
    throw new EngineError('engine-failed', 'The speech program failed to list its voices.', { cause });
  }

  return {
    /** Rejects with `engine-failed`; failures are not cached. */
    voicesOf(synthesizer: Synthesizer): Promise<readonly EspeakVoice[]> {
      const { what } = synthesizer;
      const voices = cache.get(what) ?? list(synthesizer);
      cache.set(what, voices);
      voices.catch(() => cache.delete(what));
      return voices;
    },
    [Symbol.asyncDispose](): Promise<void> {
      ending.abort(new Error('the engine was disposed'));
      return Promise.resolve();
    },
  };
}
