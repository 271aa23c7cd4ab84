/** The audio that the service answers with. */
import type { Speech } from '../../engines/contract/index.ts';

export const audioTypes = ['audio/mpeg', 'audio/wav', 'audio/ogg'] as const;
export type AudioType = (typeof audioTypes)[number];

export interface Audio extends Speech {
  readonly mediaType: AudioType;
}
