/** Opens the program of each voice with what it needs: the library, the data of eSpeak NG and the converted voice. */
import { dirname } from 'node:path';
import { EngineError, type EngineContext, type Finding, type Resident } from '../contract/index.ts';
import { installCommand } from '../../lib/setup-command.ts';
import { cached } from '../lib/cached.ts';
import { openLibrary } from '../lib/sherpa/library.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { convertVoice, type ConvertedVoice } from './convert.ts';
import { findEspeakData } from './espeak-data.ts';
import type { HostOptions, HostQuestion } from './host.ts';
import type { Options } from './options.ts';
import { catalogue, part } from './catalogue.ts';
import type { UsableVoice } from './voice-facts.ts';

type HostsOptions = Pick<Options, 'runtime' | 'data' | 'threads' | 'idleUnload'>;

export function createHosts({ runtime, data, threads = 1, idleUnload = 300 }: HostsOptions, context: EngineContext) {
  const library = openLibrary({ runtime, part }, context);
  const espeak = cached(() => findEspeakData(data, context), context.now);
  const converting = new Map<string, Promise<ConvertedVoice>>();
  const opened = new WeakMap<UsableVoice, Resident>();

  /** Returns what is missing, from caches. */
  function missing(voice: UsableVoice | undefined): string | undefined {
    return (
      library.missing() ?? (voice?.needsEspeak === true && espeak() === undefined ? espeakMissing(data) : undefined)
    );
  }

  /** Concurrent requests share one conversion. */
  function convert(voice: UsableVoice): Promise<ConvertedVoice> {
    const known = converting.get(voice.stamp);
    const converted = known ?? convertVoice(voice, context).finally(() => converting.delete(voice.stamp));
    converting.set(voice.stamp, converted);
    return converted;
  }

  async function make(voice: UsableVoice): Promise<Pick<HostOptions, 'model' | 'session'>> {
    const espeakData = voice.needsEspeak ? espeak() : undefined;
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
    missing,
    /** True if the last attempt to load the voice has failed and its files are the same. */
    isBroken: (voice: UsableVoice): boolean => opened.get(voice)?.isBroken === true,
    /** Rejects with `model-unavailable`. */
    async open(name: string, voice: UsableVoice): Promise<Resident> {
      const place = await library.open();
      const reason = missing(voice);
      if (reason !== undefined) throw new EngineError('model-unavailable', reason);
      const options: HostOptions = { library: place, ...(await make(voice)), threads, first: firstQuestion(voice) };
      const command = scriptCommand('host', import.meta.url, JSON.stringify(options));
      const places = [voice.file, dirname(voice.file)];
      const isDownload = catalogue.ids.some((id) => places.includes(catalogue.pathOf(id, context)));
      const files = isDownload ? { files: [voice.file] } : {};
      const facts = { ...files, version: voice.stamp, memory: voice.memory, idleUnloadMs: idleUnload * 1000 };
      const host = context.resident({ name, ...command, ...facts });
      opened.set(voice, host);
      return host;
    },
    async inspect(voices: readonly UsableVoice[]): Promise<readonly Finding[]> {
      const findings = await library.inspect();
      return voices.some((voice) => voice.needsEspeak) ? [...findings, inspectEspeak()] : findings;
    },
  };

  function inspectEspeak(): Finding {
    const found = espeak();
    return { what: 'espeak-ng-data', ok: found !== undefined, detail: found?.directory ?? espeakMissing(data) };
  }
}

/** Spoken once after loading: a file that is broken inside ends the program then, and not in the middle of a request. */
function firstQuestion({ speakers: [speaker] }: UsableVoice): HostQuestion {
  return { text: '1.', speaker: speaker?.number ?? 0, speed: 1, lang: speaker?.lang };
}

function espeakMissing(named: string | undefined): string {
  if (named !== undefined) return `${named} is not an espeak-ng-data directory: it has no phontab.`;
  return `espeak-ng-data not found: run \`${installCommand('espeak-ng')}\`, or \`npm install\` without \`--omit=optional\`.`;
}
