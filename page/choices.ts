/** Entries and texts of the pickers. Pure. */
import type { ModelEntry, SpeechModelEntry } from '../src/client/index.ts';

export interface Listing<E extends ModelEntry = ModelEntry> {
  readonly data: readonly E[];
  readonly default: string | null;
  /** Why engines of the settings list no models. */
  readonly reason?: string;
  /** Set if the key may not see the listing, which is then empty. */
  readonly refusal?: string;
}

/** The requested entry if it is listed, else the default, else the first that is available, else the first. */
export function choose<E extends ModelEntry>(listing: Listing<E>, requested: string | undefined): E | undefined {
  const byId = (id: string | null | undefined) => listing.data.find((entry) => entry.id === id);
  return byId(requested) ?? byId(listing.default) ?? listing.data.find(({ available }) => available) ?? listing.data[0];
}

/** The requested voice if the model has it. Undefined: the service chooses. */
export function chooseVoice(entry: SpeechModelEntry | undefined, requested: string | undefined): string | undefined {
  return entry?.voices.find(({ id }) => id === requested)?.id;
}

/** The text of an entry in the list; it says where data is sent, unless the model is local. */
export function optionText(entry: ModelEntry): string {
  const { name, local, available, reason } = entry;
  if (!available) return `${name} · ${reason}`;
  return local ? name : `${name} · ${placeOf(entry)}`;
}

export function placeOf({ local, engine }: ModelEntry): string {
  return local ? 'on this machine' : `sent to ${engine}`;
}

export type Capability = 'transcription' | 'chat' | 'speech';

/** Other ways to get the capability, for the operator of the server. */
export const otherWays: Readonly<Record<Capability, string>> = {
  transcription: 'set the API key of a provider',
  chat: 'start Ollama or llama.cpp, or set OPENAI_API_KEY',
  speech: 'install espeak-ng, or set the API key of a provider',
};

/** Advice for a capability that is missing; undefined if it is ready or preparing. */
export function adviceFor(capability: Capability, entry: ModelEntry | undefined, refusal?: string): string | undefined {
  const setup = capability === 'transcription' ? 'run “npm run setup”, or ' : '';
  if (!entry) return refusal ?? `On the server, ${setup}${otherWays[capability]}.`;
  return entry.available || isPreparing(entry) ? undefined : entry.reason;
}

/** True for a missing or refused key of a provider, and for an engine that fails. */
export const isBroken = ({ code }: Pick<ModelEntry, 'code'>): boolean => /^(key|engine)-/.test(code);

export const isPreparing = ({ code }: Pick<ModelEntry, 'code'>): boolean => code === 'preparing';
