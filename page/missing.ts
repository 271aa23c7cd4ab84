/** What the cards say of what is missing. Pure. */
import type { Preparation } from '../src/client/index.ts';
import type { Capability } from './choices.ts';

export const capabilities = ['transcription', 'chat', 'speech'] as const;

interface Purpose {
  readonly title: string;
  /** Where something works already. */
  readonly betterTitle: string;
  /** What a preparation is for. */
  readonly text: string;
  /** Without a preparation. */
  readonly otherwise: string;
}

export const purposes: Readonly<Record<Capability, Purpose>> = {
  transcription: {
    title: 'To hear',
    betterTitle: 'To hear on this machine',
    text: 'Writes down what you say. The recording stays on this machine.',
    otherwise: 'Or set a provider’s key.',
  },
  chat: {
    title: 'To answer',
    betterTitle: 'To answer on this machine',
    text: 'Answers what you ask. The conversation stays on this machine.',
    otherwise: 'Or start Ollama or llama.cpp, or set OPENAI_API_KEY.',
  },
  speech: {
    title: 'To speak',
    betterTitle: 'To speak with a natural voice',
    text: 'Reads aloud. The text stays on this machine.',
    otherwise: 'Or install espeak-ng, or set a provider’s key.',
  },
};

export interface Offers {
  /** What the settings name. */
  readonly main: readonly Preparation[];
  /** Further models and voices. */
  readonly more: readonly Preparation[];
}

/** What can be prepared for a capability and is not there yet. */
export function offersFor(capability: Capability, all: readonly Preparation[]): Offers {
  const open = all.filter((one) => one.capability === capability && one.state !== 'ready');
  return { main: open.filter(({ configured }) => configured), more: open.filter(({ configured }) => !configured) };
}

/** In progress, or failed. */
export const isActive = ({ state }: Preparation): boolean => state === 'preparing' || state === 'failed';

export function sizeOf(bytes: number | null): string {
  if (bytes === null) return 'size not known';
  const megabytes = bytes / 1_000_000;
  return megabytes < 1_000 ? `${Math.max(1, Math.round(megabytes))} MB` : `${(megabytes / 1_000).toFixed(1)} GB`;
}

/** As the service's own commands are typed: in a clone, or from the package. */
export function commandsLike(example = 'npm run setup') {
  const isClone = example.startsWith('npm ');
  return {
    doctor: isClone ? 'npm run doctor' : 'npx @parlance/server doctor',
    sandbox: isClone ? 'PARLANCE_SANDBOX=1 npm start' : 'PARLANCE_SANDBOX=1 npx @parlance/server',
  };
}
