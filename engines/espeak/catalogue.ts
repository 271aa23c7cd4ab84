import { EngineError, type EngineContext } from '../contract/index.ts';
import type { Synthesizer } from './synthesizer.ts';
import { readVoices, type EspeakVoice } from './voices.ts';

/** The voices of the synthesizers that were found, each asked once. */
export interface Catalogue extends AsyncDisposable {
  /** Rejects with `engine-failed`; the next call asks again. */
  voicesOf(synthesizer: Synthesizer): Promise<readonly EspeakVoice[]>;
}

const deadlineMs = 10_000;

export function createCatalogue(context: Pick<EngineContext, 'run'>): Catalogue {
  const known = new Map<string, Promise<readonly EspeakVoice[]>>();
  const ending = new AbortController();

  async function ask({ what, command: [program, ...args], env }: Synthesizer): Promise<readonly EspeakVoice[]> {
    const call = { signal: ending.signal, timeoutMs: deadlineMs, cwd: '/', env };
    const { code, stdout, stderr } = await context.run(program, [...args, '--voices'], call);
    const voices = readVoices(stdout);
    if (code === 0 && voices.length > 0) return voices;
    const cause = new Error(`${what} --voices: exit ${String(code)}: ${stderr.trim().slice(-2000)}`);
    throw new EngineError('engine-failed', 'The speech program does not list its voices.', { cause });
  }

  return {
    voicesOf(synthesizer) {
      const { what } = synthesizer;
      const found = known.get(what) ?? ask(synthesizer);
      known.set(what, found);
      found.catch(() => known.delete(what));
      return found;
    },
    [Symbol.asyncDispose]() {
      ending.abort(new Error('the engine ends'));
      return Promise.resolve();
    },
  };
}
