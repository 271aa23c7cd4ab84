/** Opens the program of each voice with what it needs: the library, the data of eSpeak NG and the converted voice. */
import { EngineError, type EngineContext, type Finding, type Resident } from '../contract/index.ts';
import { cached } from '../lib/cached.ts';
import { openLibrary } from '../lib/sherpa/library.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { convertVoice, type ConvertedVoice } from './convert.ts';
import { findEspeakData } from './espeak-data.ts';
import type { HostOptions } from './host.ts';
import type { Options } from './options.ts';
import { basename } from 'node:path';
import { catalogue, part } from './catalogue.ts';
import { needOf, type UsableVoice } from './voice-file.ts';

type HostsOptions = Pick<Options, 'runtime' | 'data' | 'threads' | 'idleUnload'>;

export function createHosts({ runtime, data, threads = 1, idleUnload = 300 }: HostsOptions, context: EngineContext) {
  const library = openLibrary({ runtime, part }, context);
  const espeak = cached(() => findEspeakData(data, context), context.now);
  const converting = new Map<string, Promise<ConvertedVoice>>();

  /** Returns what is missing, from caches. */
  function missing(voice: UsableVoice | undefined): string | undefined {
    return (
      library.missing() ?? (voice && needsEspeak(voice) && espeak() === undefined ? espeakMissing(data) : undefined)
    );
  }

  /** Concurrent requests share one conversion. */
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
    library,
    missing,
    /** Rejects with `model-unavailable`. */
    async open(name: string, voice: UsableVoice): Promise<Resident> {
      const place = await library.open();
      const reason = missing(voice);
      if (reason !== undefined) throw new EngineError('model-unavailable', reason);
      const { noiseScale, noiseW } = voice.config;
      const options: HostOptions = { library: place, ...(await make(voice)), threads, noiseScale, noiseW };
      const command = scriptCommand('host', import.meta.url, JSON.stringify(options));
      const isDownload = catalogue.pathOf(basename(voice.file, '.onnx'), context) === voice.file;
      const files = isDownload ? { files: [voice.file] } : {};
      const facts = { ...files, version: voice.stamp, memory: needOf(voice), idleUnloadMs: idleUnload * 1000 };
      return context.resident({ name, ...command, ...facts });
    },
    async inspect(voices: readonly UsableVoice[]): Promise<readonly Finding[]> {
      const findings = await library.inspect();
      return voices.some(needsEspeak) ? [...findings, inspectEspeak()] : findings;
    },
  };

  function inspectEspeak(): Finding {
    const found = espeak();
    return { what: 'espeak-ng-data', ok: found !== undefined, detail: found?.directory ?? espeakMissing(data) };
  }
}

const needsEspeak = ({ config }: UsableVoice): boolean => config.phonemes === 'espeak';

function espeakMissing(named: string | undefined): string {
  if (named !== undefined) return `${named} is not an espeak-ng-data directory: it has no phontab.`;
  return 'espeak-ng-data not found: run `apt-get install espeak-ng`, or `npm install` without `--omit=optional`.';
}
