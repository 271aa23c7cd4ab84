/** Measures the length of encoded speech from its bytes as they pass, without decoding them. */
import { pcmFormat } from '../../engines/contract/index.ts';
import { readMp3Frame } from '../../lib/mp3-frame.ts';
import { createFlacMeter } from './flac-length.ts';

export interface AudioMeter {
  take(chunk: Uint8Array): void;
  /** Milliseconds so far; 0 while nothing is recognized. */
  ms(): number;
}

const meters: ReadonlyMap<string, () => AudioMeter> = new Map([
  ['audio/mpeg', createMp3Meter],
  ['audio/ogg', createOggMeter],
  ['audio/flac', createFlacMeter],
  ['audio/aac', createAacMeter],
  [pcmFormat.mediaType, createPcmMeter],
]);

/** Supports the media types of the contract; for others, the length is 0. */
export function createAudioMeter(mediaType: string): AudioMeter {
  return meters.get(mediaType)?.() ?? createWavMeter();
}

// ------------------------------------------------------------------------------------------------------------- mp3

/** Adds up the frames; the bytes between them (tags) are skipped. */
function createMp3Meter(): AudioMeter {
  let head = 0;
  let known = 0;
  let skip = 0;
  let ms = 0;
  return {
    take(chunk) {
      for (let at = 0; at < chunk.length;) {
        const skipped = Math.min(skip, chunk.length - at);
        skip -= skipped;
        at += skipped;
        if (at === chunk.length) return;
        head = ((head << 8) | (chunk[at++] ?? 0)) >>> 0;
        known += 1;
        const frame = known < 4 ? undefined : readMp3Frame(head);
        if (frame === undefined) continue;
        ms += frame.ms;
        skip = frame.bytes - 4;
        known = 0;
      }
    },
    ms: () => ms,
  };
}

// ------------------------------------------------------------------------------------------------------------- ogg

/** The position in the header of the last page is the total number of samples (RFC 3533, 6). */
function createOggMeter(): AudioMeter {
  let page = Buffer.alloc(0);
  let skip = 0;
  let rate = 0;
  let samples = 0;
  return {
    take(chunk) {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      for (;;) {
        const skipped = Math.min(skip, rest.length);
        skip -= skipped;
        rest = rest.subarray(skipped);
        if (rest.length === 0) return;
        page = Buffer.concat([page, rest]);
        const end = 27 + (page[26] ?? 0);
        if (page.length < (rate === 0 ? end + identificationBytes : end)) return;
        rate ||= readRate(page.subarray(end));
        if (rate === 0 || page.toString('latin1', 0, 4) !== 'OggS') skip = Infinity; // an unknown codec or no Ogg
        const position = page.readBigInt64LE(6);
        if (position > 0n) samples = Number(position); // -1: no packet ends on this page
        skip += end + page.subarray(27, end).reduce((sum, length) => sum + length, 0);
        rest = page;
        page = Buffer.alloc(0);
      }
    },
    ms: () => (rate === 0 ? 0 : (samples * 1000) / rate),
  };
}

/** Bytes of the first packet that `readRate` needs. */
const identificationBytes = 16;

/** Opus positions count in 48 kHz (RFC 7845, 4), Vorbis positions in the sample rate. */
function readRate(packet: Buffer): number {
  if (packet.toString('latin1', 0, 8) === 'OpusHead') return 48_000;
  return packet.toString('latin1', 0, 7) === '\x01vorbis' ? packet.readUInt32LE(12) : 0;
}

// ------------------------------------------------------------------------------------------------------------- wav

const wavHeadBytes = 44;

/** Divides the bytes of the samples by the bytes per second of the header. Other chunks may follow the samples. */
function createWavMeter(): AudioMeter {
  let head = Buffer.alloc(0);
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      if (head.length < wavHeadBytes) head = Buffer.concat([head, chunk.subarray(0, wavHeadBytes - head.length)]);
    },
    ms() {
      const isWav = head.length === wavHeadBytes && head.toString('latin1', 8, 16) === 'WAVEfmt ';
      const bytesPerSecond = isWav ? head.readUInt32LE(28) : 0;
      if (bytesPerSecond === 0) return 0;
      const hasSize = head.toString('latin1', 36, 40) === 'data';
      const announced = (hasSize && head.readUInt32LE(40)) || Infinity; // 0: the length was unknown
      return (Math.min(bytes - wavHeadBytes, announced) * 1000) / bytesPerSecond;
    },
  };
}

// ------------------------------------------------------------------------------------------------------------- aac

const adtsHeaderBytes = 7;
const adtsRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350];

/** Adds up the frames (ISO/IEC 13818-7, 6.2): each has blocks of 1024 samples. */
function createAacMeter(): AudioMeter {
  let held = Buffer.alloc(0);
  let skip = 0;
  let ms = 0;
  return {
    take(chunk) {
      held = Buffer.concat([held, chunk]);
      let at = skip;
      while (at + adtsHeaderBytes <= held.length) {
        const rate = adtsRates[(held.readUInt8(at + 2) >>> 2) & 15];
        const bytes = (held.readUIntBE(at + 3, 3) >>> 5) & 0x1fff;
        const isFrame = (held.readUInt16BE(at) & 0xfff6) === 0xfff0 && rate !== undefined && bytes >= adtsHeaderBytes;
        if (isFrame) ms += (1_024_000 * ((held.readUInt8(at + 6) & 3) + 1)) / rate;
        at += isFrame ? bytes : 1;
      }
      skip = Math.max(0, at - held.length);
      held = held.subarray(at);
    },
    ms: () => ms,
  };
}

// ------------------------------------------------------------------------------------------------------------- pcm

function createPcmMeter(): AudioMeter {
  let bytes = 0;
  return {
    take: ({ length }) => void (bytes += length),
    ms: () => bytes / ((2 * pcmFormat.sampleRate) / 1000),
  };
}
