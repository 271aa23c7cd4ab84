/** Texts and offers of the cards for models that can be installed. Pure. */
import type { Preparation } from '../src/client/index.ts';
import type { Capability } from './choices.ts';

interface Purpose {
  readonly title: string;
  /** Shown if a model works already. */
  readonly betterTitle: string;
  /** Purpose of the model. */
  readonly text: string;
}

export const purposes: Readonly<Record<Capability, Purpose>> = {
  transcription: {
    title: 'Transcription',
    betterTitle: 'Transcription on this machine',
    text: 'Turns speech into text. Recordings stay on this machine.',
  },
  chat: {
    title: 'Chat',
    betterTitle: 'Chat on this machine',
    text: 'Answers your messages. Conversations stay on this machine.',
  },
  speech: {
    title: 'Voice',
    betterTitle: 'A natural voice',
    text: 'Reads text aloud. The text stays on this machine.',
  },
};

/** Instructions for the user to try an installed model. */
export const nextSteps: Readonly<Record<Capability, string>> = {
  transcription: 'Press “Speak” and say something, or choose a file.',
  chat: 'Type a message and press “Send”.',
  speech: 'Type some text and press “Read aloud”.',
};

/** The setting that names the chosen model. */
export const preferenceOf = {
  transcription: 'transcriptionModel',
  chat: 'chatModel',
  speech: 'speechModel',
} as const satisfies Readonly<Record<Capability, string>>;

export interface Offers {
  /** Models that the settings name. */
  readonly main: readonly Preparation[];
  /** Further models and voices. */
  readonly more: readonly Preparation[];
}

/** Returns the installable models of a capability, including those installed during this visit. */
export function offersFor(
  capability: Capability,
  all: readonly Preparation[],
  installed: ReadonlySet<string> = new Set(),
): Offers {
  const open = all.filter((one) => one.capability === capability && (one.state !== 'ready' || installed.has(one.id)));
  return { main: open.filter(({ configured }) => configured), more: open.filter(({ configured }) => !configured) };
}

/** Voices that can be installed, and installed ones of models other than the chosen one. */
export function otherVoices(all: readonly Preparation[], chosen: string | undefined): readonly Preparation[] {
  const isOther = ({ state, model }: Preparation) => state !== 'ready' || (model !== null && model !== chosen);
  return all.filter((one) => one.capability === 'speech' && isOther(one));
}

/** True if in progress, failed, or installed during this visit: `offersFor` returns no other ready ones. */
export const isActive = ({ state }: Preparation): boolean => state !== 'missing';

export function sizeOf(bytes: number | null): string {
  if (bytes === null) return 'unknown size';
  const megabytes = bytes / 1_000_000;
  return megabytes < 1_000 ? `${Math.max(1, Math.round(megabytes))} MB` : `${(megabytes / 1_000).toFixed(1)} GB`;
}

/** Share of the memory that models may use; the system needs the rest. */
const shareForModels = 0.8;

/** Says whether a model fits in the machine's memory. Returns "" if either size is unknown. */
export function memoryText({ memory_bytes: needed }: Pick<Preparation, 'memory_bytes'>, machine: number): string {
  if (needed === null || !(needed > 0 && machine > 0)) return '';
  if (needed <= machine * shareForModels) return 'Fits this machine';
  return `Needs about ${sizeOf(needed)} of memory; this machine has ${sizeOf(machine)}`;
}

/** The commands of the service, for a clone or for the npm package. */
export function commandsLike(example = 'npm run setup') {
  const isClone = example.startsWith('npm ');
  return {
    doctor: isClone ? 'npm run doctor' : 'npx @parlance/server doctor',
    sandbox: isClone ? 'PARLANCE_SANDBOX=1 npm start' : 'PARLANCE_SANDBOX=1 npx @parlance/server',
  };
}
