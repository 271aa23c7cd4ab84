import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import { assertPlausible, type Pcm } from '../pcm.ts';
import type { Track } from '../track.ts';

type OggPage = Parameters<OggVorbisDecoder['decodeOggPages']>[0][number];

export async function vorbisDecoder({ description }: Track): Promise<(packet: Uint8Array) => Promise<Pcm>> {
  const [identification, , vorbisSetup] = splitHeaders(description);
  assertHeader(identification);
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  await decoder.decodeOggPages([page({ data: identification, codecFrames: [] })]);
  return async (packet) => {
    const codecFrames = [{ data: packet, header: { vorbisSetup } }];
    const { channelData, sampleRate } = await decoder.decodeOggPages([page({ data: new Uint8Array(0), codecFrames })]);
    return { sampleRate, channels: channelData };
  };
}

/** Checks the header itself (Vorbis I, section 4.2.2), because the container may state different values. */
function assertHeader(identification: Uint8Array): void {
  const view = new DataView(identification.buffer, identification.byteOffset, identification.byteLength);
  assertPlausible(view.getUint32(12, true), view.getUint8(11));
}

/** The decoder accepts only Ogg pages, but reads only these fields. */
interface PageEssentials {
  readonly data: Uint8Array;
  readonly codecFrames: readonly { readonly data: Uint8Array; readonly header: { readonly vorbisSetup: Uint8Array } }[];
}

function page(essentials: PageEssentials): OggPage {
  return essentials as unknown as OggPage;
}

/**
 * Splits the three header packets, which use Xiph lacing: a count, the first two lengths in steps of 255, then the
 * data.
 */
function splitHeaders(description: Uint8Array): [Uint8Array, Uint8Array, Uint8Array] {
  let position = 1;
  const readLength = (): number => {
    let length = 0;
    while (description[position] === 255) length += description[position++]!;
    return length + (description[position++] ?? 0);
  };
  const first = readLength();
  const second = readLength();
  const setup = position + first + second;
  return [
    description.subarray(position, position + first),
    description.subarray(position + first, setup),
    description.subarray(setup),
  ];
}
