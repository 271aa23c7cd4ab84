/** The supported speech APIs and their differences. */
import type { Feature, SpeechFormat } from '../contract/index.ts';

/** Formats that can be requested; `pcm` at the rate of the provider. */
export const remoteFormats = [
  'pcm',
  'wav',
  'mp3',
  'opus',
  'ogg',
  'flac',
  'aac',
] as const satisfies readonly SpeechFormat[];
export type RemoteFormat = (typeof remoteFormats)[number];

/** Optional features of a provider, besides text and voice. */
export const speechFeatures = ['speed', 'instructions'] as const satisfies readonly Feature[];
export type SpeechFeature = (typeof speechFeatures)[number];

export interface Api {
  /** Names of the request fields. */
  readonly fields: { readonly text: string; readonly voice: string; readonly format: string };
  readonly path: string;
  readonly formats: readonly RemoteFormat[];
  readonly supports: readonly SpeechFeature[];
  /** Maximum text length of a request, in code points. */
  readonly maxCharacters: number;
}

export const apiNames = ['openai', 'mistral', 'parlance'] as const;

export const apis: Readonly<Record<(typeof apiNames)[number], Api>> = {
  openai: {
    fields: { text: 'input', voice: 'voice', format: 'response_format' },
    path: '/audio/speech',
    formats: ['pcm', 'mp3', 'opus'],
    supports: speechFeatures,
    maxCharacters: 4096,
  },
  mistral: {
    fields: { text: 'input', voice: 'voice_id', format: 'response_format' },
    path: '/audio/speech',
    formats: ['wav', 'mp3'],
    supports: [],
    maxCharacters: 4096,
  },
  parlance: {
    fields: { text: 'text', voice: 'voice_id', format: 'format' },
    path: '/tts',
    formats: remoteFormats,
    supports: [],
    maxCharacters: 32_000,
  },
};
