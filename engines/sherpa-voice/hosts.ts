/** The program of each voice, and what it needs: the library, the files of eSpeak NG, a converted voice. */
import { EngineError, type EngineContext, type Finding, type PrepareCall, type Resident } from '../contract/index.ts';
import { cached } from '../lib/cached.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { convertVoice, type ConvertedVoice } from './convert.ts';
import { findEspeakData } from './espeak-data.ts';
import type { Options } from './options.ts';
import { checkRuntime, findRuntime, hostCommand, installRuntime, lacks, preparationsFor } from './runtime.ts';
import type { UsableVoice } from './voice-file.ts';

type HostsOptions = Pick<Options, 'runtime' | 'data' | 'threads' | 'idleUnload'>;

export function createHosts({ runtime, data, threads = 1, idleUnload = 300 }: HostsOptions, context: EngineContext) {
  const { VOICE_RUNTIME } = context.env;
  const named = runtime ?? (VOICE_RUNTIME === '' ? undefined : VOICE_RUNTIME);
  const library = cached(() => findRuntime(named, context), context.now);
  const espeak = cached(() => findEspeakData(data, context), context.now);
  const converting = new Map<string, Promise<ConvertedVoice>>();
  /** Why the library could not be loaded when that was last tried. */
  let problem: string | undefined;

  /** What is missing; from memory. */
  function missing(voice: UsableVoice | undefined): string | undefined {
    const place = library();
    if (place === undefined) return runtimeMissing(named);
    const lacking = lacks(place);
    if (lacking !== undefined) return `${lacking}.`;
    if (problem !== undefined) return `sherpa-onnx could not be loaded: ${problem}.`;
    return voice && needsEspeak(voice) && espeak() === undefined ? espeakMissing(data) : undefined;
  }

  async function check() {
    const place = library();
    if (place === undefined) return undefined;
    const found = await checkRuntime(place, context);
    problem = 'problem' in found ? found.problem : undefined;
    return { place, ...found };
  }

  /** Two first requests convert it once. */
  function convert(voice: UsableVoice): Promise<ConvertedVoice> {
    const known = converting.get(voice.stamp);
    const converted = known ?? convertVoice(voice, context).finally(() => converting.delete(voice.stamp));
    converting.set(voice.stamp, converted);
    return converted;
  }

  async function make(voice: UsableVoice) {
    const espeakData = needsEspeak(voice) ? espeak() : undefined;
    try {
      const [files] = await Promise.all([convert(voice), espeakData?.make()]);
      return { ...files, ...(espeakData && { dataDir: espeakData.directory }) };
    } catch (cause) {
      if (EngineError.is(cause)) throw cause;
      throw new EngineError('model-unavailable', 'The voice could not be converted.', { cause });
    }
  }

  return {
    missing,
    /** None where the settings name the place of the library. */
    preparations: async () => (named !== undefined ? [] : preparationsFor(context, library() !== undefined)),
    async install(call: PrepareCall): Promise<void> {
      if (library() === undefined && named === undefined) await installRuntime(context, call);
    },
    /** Writes what the voice lacks. */
    async prepare(voice: UsableVoice): Promise<void> {
      await make(voice);
    },
    /** Rejects with `model-unavailable`. */
    async open(name: string, voice: UsableVoice): Promise<Resident> {
      if (problem !== undefined) await check(); // it may have been fixed
      const [reason, place] = [missing(voice), library()];
      if (reason !== undefined || place === undefined) throw new EngineError('model-unavailable', reason ?? '');
      const files = await make(voice);
      const { noiseScale, noiseW } = voice.config;
      const command = hostCommand({ library: place, voice: { ...files, threads, noiseScale, noiseW } });
      const facts = { version: voice.stamp, memory: needOf(voice), idleUnloadMs: idleUnload * 1000 };
      const resident = context.resident?.({ name, ...command, ...facts });
      if (!resident) throw new EngineError('model-unavailable', 'This service does not keep programs loaded.');
      return resident;
    },
    /** The failure of a call, or what is wrong with the library if that is why. */
    async explain(error: unknown): Promise<unknown> {
      if (!EngineError.is(error) || error.code !== 'engine-failed') return error;
      await check();
      const reason = missing(undefined);
      return reason === undefined ? error : new EngineError('model-unavailable', reason, { cause: error });
    },
    async inspect(voices: readonly UsableVoice[]): Promise<readonly Finding[]> {
      const found = await check();
      const what = 'sherpa-onnx';
      const version = found && 'version' in found ? `${found.version}, ${found.place}` : undefined;
      const detail = version ?? missing(undefined) ?? '';
      const isFixable = found === undefined && named === undefined;
      const finding = { what, ok: version !== undefined, detail, ...(isFixable && { fix: nameSetup('voice') }) };
      return voices.some(needsEspeak) ? [finding, inspectEspeak()] : [finding];
    },
  };

  function inspectEspeak(): Finding {
    const found = espeak();
    return { what: 'espeak-ng-data', ok: found !== undefined, detail: found?.directory ?? espeakMissing(data) };
  }
}

const needsEspeak = ({ config }: UsableVoice): boolean => config.phonemes === 'espeak';

/** Bytes: 75 MB above the file when it is loaded, and what the library keeps after 10 s of sound. */
export const needOf = ({ bytes }: UsableVoice): number => bytes + 475_000_000;

function runtimeMissing(named: string | undefined): string {
  if (named !== undefined) return `sherpa-onnx-node not found: ${named} has no node_modules/sherpa-onnx-node.`;
  return `sherpa-onnx-node not found: run \`${nameSetup('voice')}\` to install it (33 MB), or set VOICE_RUNTIME to a directory with node_modules/sherpa-onnx-node.`; // prettier-ignore
}

function espeakMissing(named: string | undefined): string {
  if (named !== undefined) return `${named} is not an espeak-ng-data directory: it has no phontab.`;
  return 'espeak-ng-data not found: run `apt-get install espeak-ng`, or `npm install` without `--omit=optional`.';
}
