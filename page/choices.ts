/** What the pickers show of the listings. Pure. */
import type { ModelEntry, SpeechModelEntry } from '../src/client/index.ts';

export interface Listing<E extends ModelEntry = ModelEntry> {
  readonly data: readonly E[];
  readonly default: string | null;
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

export function optionText(entry: ModelEntry): string {
  return `${entry.name} · ${entry.available ? placeOf(entry) : entry.reason}`;
}

export function placeOf({ local, engine }: ModelEntry): string {
  return local ? 'here' : `leaves this machine: ${engine}`;
}

export type Capability = 'transcription' | 'chat' | 'speech';

/** For a listing without entries. */
export const whatToDo: Readonly<Record<Capability, string>> = {
  transcription: 'No model yet. Run “npm run setup”, or set a provider’s key; “npm run doctor” says what is missing.',
  chat: 'No model yet. Start Ollama or llama.cpp on this machine, or set OPENAI_API_KEY; “npm run doctor” says more.',
  speech: 'No voice yet. Install espeak-ng, or set a provider’s key; “npm run doctor” says what is missing.',
};

export const isPreparing = ({ code }: Pick<ModelEntry, 'code'>): boolean => code === 'preparing';

/** 0 to 1 while an entry is being prepared, where the service says so. */
export function progressOf(entry: object): number | undefined {
  return 'progress' in entry && typeof entry.progress === 'number' ? entry.progress : undefined;
}
