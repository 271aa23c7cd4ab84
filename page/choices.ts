/** What the pickers show of the listings. Pure. */
import type { ModelEntry, SpeechModelEntry } from '../src/client/index.ts';

export interface Listing<E extends ModelEntry = ModelEntry> {
  readonly data: readonly E[];
  readonly default: string | null;
  /** Why the key may not see it: then it is empty. */
  readonly refusal?: string;
}

/** The wanted entry if it is listed, else the default, else the first that is available, else the first. */
export function choose<E extends ModelEntry>(listing: Listing<E>, wanted: string | undefined): E | undefined {
  const byId = (id: string | null | undefined) => listing.data.find((entry) => entry.id === id);
  return byId(wanted) ?? byId(listing.default) ?? listing.data.find(({ available }) => available) ?? listing.data[0];
}

/** The wanted voice if the model has it. Undefined: the service chooses. */
export function chooseVoice(entry: SpeechModelEntry | undefined, wanted: string | undefined): string | undefined {
  return entry?.voices.find(({ id }) => id === wanted)?.id;
}

/** Where an entry runs stands below its picker; in the list only where something leaves the machine. */
export function optionText(entry: ModelEntry): string {
  const { name, local, available, reason } = entry;
  if (!available) return `${name} · ${reason}`;
  return local ? name : `${name} · ${placeOf(entry)}`;
}

export function placeOf({ local, engine }: ModelEntry): string {
  return local ? 'here' : `leaves this machine: ${engine}`;
}

export type Capability = 'transcription' | 'chat' | 'speech';

/** For a listing without entries. */
const whatToDo: Readonly<Record<Capability, string>> = {
  transcription: 'Run “npm run setup” to prepare a local model, or set a provider’s key.',
  chat: 'Start Ollama or llama.cpp on the machine of the service, or set OPENAI_API_KEY.',
  speech: 'Install espeak-ng on the machine of the service, or set a provider’s key.',
};

/** What the user can do for a capability; undefined where it works, or will without them. */
export function adviceFor(capability: Capability, entry: ModelEntry | undefined, refusal?: string): string | undefined {
  if (!entry) return refusal ?? whatToDo[capability];
  return entry.available || isPreparing(entry) ? undefined : entry.reason;
}

export const isPreparing = ({ code }: Pick<ModelEntry, 'code'>): boolean => code === 'preparing';
