/** The audio media types of the service's responses. */
import { speechMediaTypes, type Speech } from '../../engines/contract/index.ts';

export const audioTypes = Object.values(speechMediaTypes);
export type AudioType = (typeof audioTypes)[number];

/** The header of every answer that contains speech. */
export const syntheticHeader = { 'X-Parlance-Synthetic': 'true' } as const;

export interface Audio extends Speech {
  readonly mediaType: AudioType;
}
