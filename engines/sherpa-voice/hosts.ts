/** Opens the program of each voice with what it needs: the library, the data of eSpeak NG and the converted voice. */
import { dirname } from 'node:path';
import { EngineError, type EngineContext, type Finding, type Resident } from '../contract/index.ts';
import { installCommand } from '../../lib/setup-command.ts';
import { openLibrary } from '../lib/sherpa/library.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { convertVoice, type ConvertedVoice } from './convert.ts';
import { findEspeakData } from './espeak-data.ts';
import type { HostOptions, HostQuestion } from './host.ts';
import type { Options } from './options.ts';
import { catalog, part } from './catalog.ts';
import type { UsableVoice } from './voice-facts.ts';

type HostsOptions = Pick<Options, 'runtime' | 'data' | 'threads' | 'idleUnload'>;

export function createHosts({ runtime, data, threads = 1, idleUnload = 300 }: HostsOptions, context: EngineContext) {
  const library = openLibrary({ runtime, part }, context);
  let espeak = findEspeakData(data, context);
  const converting = new Map<string, Promise<ConvertedVoice>>();

  function missing(voice: UsableVoice): string | undefined {
    return library.missing() ?? (voice.needsEspeak && espeak === undefined ? espeakMissing(data) : undefined);
  }

  /** Concurrent requests share one conversion. */
  function convert(voice: UsableVoice): Promise<ConvertedVoice> {
    const known = converting.get(voice.stamp);
    const converted = known ?? convertVoice(voice, context).finally(() => converting.delete(voice.stamp));
    converting.set(voice.stamp, converted);
    return converted;
  }

  async function make(voice: UsableVoice): Promise<Pick<HostOptions, 'model' | 'session'>> {
    const espeakData = voice.needsEspeak ? espeak : undefined;
    try {
      const [{ config, session }] = await Promise.all([convert(voice), espeakData?.make()]);
      const ofEspeak = espeakData && { dataDir: espeakData.directory };
      return { session, model: { [voice.family]: { ...config, ...ofEspeak } } };
    } catch (cause) {
      if (EngineError.is(cause)) throw cause;
      throw new EngineError('model-unavailable', 'The voice could not be converted.', { cause });
    }
  }

  return {
    library,
    /** Returns what is missing for a voice; undefined if nothing is. Does no I/O. */
    missing,
    /** Searches for the library and the data again. */
    look(): void {
      library.look();
      espeak = findEspeakData(data, context);
    },
    /** `model`: the entry that cannot be used without the voice. Rejects with `model-unavailable`. */
    async open(name: string, voice: UsableVoice, model: string | undefined): Promise<Resident> {
      const place = library.open();
      const reason = missing(voice);
      if (reason !== undefined) throw new EngineError('model-unavailable', reason);
      const options: HostOptions = { library: place, ...(await make(voice)), threads, first: firstQuestion(voice) };
      const command = scriptCommand('host', import.meta.url, JSON.stringify(options));
      const places = [voice.file, dirname(voice.file)];
      const isDownload = catalog.ids.some((id) => places.includes(catalog.pathOf(id, context)));
      return context.resident({
        ...{ name, version: voice.stamp, memory: voice.memory, idleUnloadMs: idleUnload * 1000, ...command },
        ...(isDownload && { files: [voice.file] }),
        ...(model !== undefined && { model }),
      });
    },
    async inspect(voices: readonly UsableVoice[]): Promise<readonly Finding[]> {
      const findings = await library.inspect();
      return voices.some((voice) => voice.needsEspeak) ? [...findings, inspectEspeak()] : findings;
    },
  };

  function inspectEspeak(): Finding {
    return { what: 'espeak-ng-data', ok: espeak !== undefined, detail: espeak?.directory ?? espeakMissing(data) };
  }
}

/** Spoken once after loading: a corrupt file ends the program at that time, not in the middle of a request. */
function firstQuestion({ speakers: [speaker] }: UsableVoice): HostQuestion {
  return { text: '1.', speaker: speaker?.number ?? 0, speed: 1, lang: speaker?.lang };
}

function espeakMissing(named: string | undefined): string {
  if (named !== undefined) return `${named} is not an espeak-ng-data directory: it has no phontab.`;
  return `espeak-ng-data not found: run \`${installCommand('espeak-ng')}\`, or \`npm install\` without \`--omit=optional\`.`;
}
