/** The voices of the settings and the current state of their files. */
import {
  EngineError,
  OptionsError,
  type EngineContext,
  type FilesAsset,
  type Finding,
  type SpeechCall,
  type Voice,
} from '../contract/index.ts';
import { validNames } from '../../lib/did-you-mean.ts';
import { catalog } from './catalog.ts';
import { removeConversions } from './convert.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { defaultVoices, type Options } from './options.ts';
import { memoryBeside } from './piper.ts';
import type { UsableVoice, VoiceFile } from './voice-facts.ts';
import { chooseSpeaker, expectedVoices, speakersOf, toSource, type Speaker, type VoiceSource } from './voices.ts';

interface InspectedVoice extends VoiceSource {
  readonly found: VoiceFile;
}

export interface VoiceSet {
  readonly voices: readonly InspectedVoice[];
  readonly usable: readonly UsableVoice[];
  readonly speakers: readonly Speaker[];
  /** For the list of models; includes voices that can still be downloaded. */
  readonly listed: readonly Voice[];
  /** For the doctor. */
  readonly findings: () => readonly Finding[];
}

export type Voices = Awaited<ReturnType<typeof openVoices>>;

/** Throws an `OptionsError` for unknown and duplicate voices. */
export async function openVoices({ voices = defaultVoices, voice, mirror }: Options, context: EngineContext) {
  const sources = voices.map((each) => toSource(each, context));
  const inspect = async (): Promise<VoiceSet> =>
    toSet(await Promise.all(sources.map(async (source) => ({ ...source, found: await source.inspect() }))));
  const first = await inspect();
  checkVoices(first, voice);
  let installed = filesOf(first);

  function assetOf({ id, download, inspect: find }: VoiceSource): FilesAsset[] {
    if (!download) return [];
    return [
      catalog.asset(id, context, mirror, {
        isReady: async () => (await find()).ok,
        memoryOf: (bytes) => bytes + memoryBeside, // Kokoro needs a little less
      }),
    ];
  }

  return {
    assets: sources.flatMap(assetOf),
    inspect,
    /** Deletes the conversions of voices that have been removed since the last call. */
    async clean(): Promise<void> {
      const now = filesOf(await inspect());
      const removed = installed.filter((file) => !now.includes(file));
      installed = now;
      for (const file of removed) await removeConversions(file, context);
    },
  };
}

const filesOf = ({ usable }: VoiceSet): readonly string[] => usable.map(({ file }) => file);

function toSet(voices: readonly InspectedVoice[]): VoiceSet {
  const speakers = voices.flatMap((voice) => (voice.found.ok ? speakersOf(voice, voice.found) : []));
  const listed = (voice: InspectedVoice) =>
    voice.found.ok ? speakers.filter((speaker) => speaker.voice === voice.id).map(toVoice) : expectedVoices(voice);
  return {
    voices,
    speakers,
    usable: voices.flatMap(({ found }) => (found.ok ? [found] : [])),
    listed: voices.flatMap(listed),
    findings: () => voices.flatMap(toFindings),
  };
}

const toVoice = ({ id, name, language }: Speaker): Voice => ({ id, name, language });

/** Throws `model-unavailable`, `voice-not-supported` and `language-not-supported`. */
export function findSpeaker(
  { voices, speakers }: VoiceSet,
  call: Pick<SpeechCall, 'voice' | 'language'>,
  defaultId: string | undefined,
): Speaker {
  const speaker = chooseSpeaker(speakers, call, defaultId);
  if (speaker) return speaker;
  const { voice } = call;
  if (voice === undefined || voiceOf(voices, voice)?.found.ok === false)
    throw new EngineError('model-unavailable', problemOf(voices, voice ?? defaultId));
  throw new EngineError('voice-not-supported', `Unknown voice "${voice}"; the list of models contains all voices.`);
}

/** Finds the voice of the settings to which a speaker belongs. */
const voiceOf = (voices: readonly InspectedVoice[], speaker: string): InspectedVoice | undefined =>
  voices.find(({ id }) => speaker === id || speaker.startsWith(`${id}/`));

/** Returns why a voice cannot be used or, without a name, why no voice can be used. */
export function problemOf(voices: readonly InspectedVoice[], speaker: string | undefined): string {
  const voice = speaker === undefined ? voices.find(({ found }) => !found.ok) : voiceOf(voices, speaker);
  return voice?.found.ok === false ? `${voice.found.detail}.` : `There is no voice "${speaker ?? ''}".`;
}

function checkVoices({ voices, speakers, listed }: VoiceSet, defaultId: string | undefined): void {
  const ids = voices.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new OptionsError(`voices: two have the id "${twice}"`);
  const known = speakers.map(({ id }) => id);
  const isKnown =
    defaultId === undefined || known.includes(defaultId) || voiceOf(voices, defaultId)?.found.ok === false;
  if (isKnown) return;
  const valid = listed.map(({ id }) => id);
  const names = validNames(valid, defaultId, 20);
  throw new OptionsError(`voice: unknown voice "${defaultId}"; ${names}`);
}

/** The service itself lists the assets that it can install. */
function toFindings({ id, found, download }: InspectedVoice): Finding[] {
  const what = `voice ${id}`;
  if (!found.ok) return download ? [] : [{ what, ok: false, detail: found.detail }];
  const sizes = `${megabytes(found.bytes)}, needs up to ${megabytes(found.memory)} loaded`;
  const locales = [...new Set(found.speakers.map(({ locale }) => locale))].join(' ');
  const count = new Set(found.speakers.map(({ number }) => number)).size;
  const speakers = count === 1 ? 'one speaker' : `${count} speakers`;
  return [{ what, ok: true, detail: `${sizes}, ${locales}, ${speakers}, ${found.file}` }];
}
