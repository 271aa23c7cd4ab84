/**
 * Files that are not what they claim: what a careless or hostile caller may upload. Each says what may be found in it,
 * so that a test can hold a decoder to it.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Container } from '../../engines/contract/index.ts';
import { requireProgram, run } from './programs.ts';
import { fileName, recordingKind, usual } from './recordings.ts';
import { type Word, toneWav, wav, words } from './tone-model.ts';

export interface HostileKind {
  readonly name: string;
  readonly extension: string;
  /** What its first bytes claim; null when that is nothing we accept. */
  readonly container: Container | null;
  /**
   * What a decoder may find in it:
   * - `nothing`: it is to be refused;
   * - `beginning`: all words of tone-model.ts in their order, up to the damage;
   * - `hours`: far more sound than any limit allows;
   * - `anything`: its header lies; whatever comes out is right as long as it comes quickly and is not much.
   */
  readonly holds: 'nothing' | 'beginning' | 'hours' | 'anything';
  /** Writes one into the directory, which must not hold one of this kind yet. */
  make(surroundings: Surroundings): Promise<string>;
}

export interface Surroundings {
  readonly directory: string;
  /** What a script is to make the server read. Plain ffmpeg falls for it when it is a fragmented mp4 in `directory`. */
  readonly targetFile: string;
  /** What a script is to make the server fetch. */
  readonly targetUrl: string;
}

interface Recipe extends Omit<HostileKind, 'make'> {
  content(surroundings: Surroundings): Uint8Array | string | Promise<Uint8Array>;
}

// --------------------------------------------------------------- scripts that make ffmpeg open something else

const scripts: readonly { name: string; write: (target: string) => string }[] = [
  {
    name: 'HLS playlist',
    write: (target) => `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${target}\n#EXT-X-ENDLIST\n`,
  },
  {
    name: 'DASH manifest',
    write: (target) => `<?xml version="1.0"?>
      <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" type="static">
        <Period><AdaptationSet mimeType="audio/mp4"><Representation id="0" bandwidth="64000">
          <BaseURL>${target}</BaseURL>
        </Representation></AdaptationSet></Period>
      </MPD>`,
  },
  { name: 'ffconcat script', write: (target) => `ffconcat version 1.0\nfile '${target}'\n` },
  {
    name: 'SDP session',
    write: (target) => `v=0\ns=memo\nc=IN IP4 127.0.0.1\nt=0 0\na=control:${target}\nm=audio 5004 RTP/AVP 0\n`,
  },
];

const targets: readonly { name: string; choose: (surroundings: Surroundings) => string }[] = [
  { name: 'a local file', choose: ({ targetFile }) => targetFile },
  { name: 'a file beside it', choose: ({ directory, targetFile }) => relative(directory, targetFile) },
  { name: 'a URL', choose: ({ targetUrl }) => targetUrl },
];

/** A complete, empty ID3v2 tag: by its first bytes the file is an mp3, while ffmpeg's own guess looks behind it. */
const id3Tag = 'ID3\x03\0\0\0\0\0\0';

const scriptRecipes = scripts.flatMap(({ name: script, write }) =>
  targets.flatMap(({ name: target, choose }): Recipe[] => [
    {
      name: `${script} of ${target}`,
      extension: 'mp3',
      container: null,
      holds: 'nothing',
      content: (surroundings) => write(choose(surroundings)),
    },
    {
      name: `${script} of ${target}, behind an ID3 tag`,
      extension: 'mp3',
      container: 'mp3',
      holds: 'nothing',
      content: (surroundings) => id3Tag + write(choose(surroundings)),
    },
  ]),
);

// ------------------------------------------------------------------------------------------ damaged recordings

const noise = createHash('shake256', { outputLength: 8192 }).update('noise').digest();

const damagedRecipes: readonly Recipe[] = [
  { name: 'random bytes', extension: 'webm', container: null, holds: 'nothing', content: () => noise },
  {
    name: 'webm cut in the middle',
    extension: 'webm',
    container: 'webm',
    holds: 'beginning',
    content: async () => firstHalf(await recorded('webm/opus as MediaRecorder writes it (no duration, live clusters)')),
  },
  {
    name: 'mp3 cut in the middle',
    extension: 'mp3',
    container: 'mp3',
    holds: 'beginning',
    content: async () => firstHalf(await recorded('mp3 with Xing header')),
  },
  {
    name: 'mp4 without its moov',
    extension: 'mp4',
    container: 'mp4',
    holds: 'nothing',
    content: async () => {
      const mp4 = await recorded('mp4/aac with the moov at the end', usual.words);
      return mp4.subarray(0, mp4.lastIndexOf('moov') - 4);
    },
  },
  {
    name: 'mp4 with video only',
    extension: 'mp4',
    container: 'mp4',
    holds: 'nothing',
    content: () => ffmpeg('-f lavfi -i testsrc=duration=1:size=64x64:rate=5 -c:v mpeg4 -f mp4'),
  },
  {
    name: 'wav that ends with its header',
    extension: 'wav',
    container: 'wav',
    holds: 'nothing',
    content: () => wav(new Int16Array(), { rate: 16_000, channels: 1 }),
  },
];

const firstHalf = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2);

const recorded = (kind: string, said: readonly Word[] = words): Promise<Buffer> =>
  readBack((directory) => recordingKind(kind).make(said, { directory, language: usual.language }));

function ffmpeg(args: string): Promise<Buffer> {
  return readBack(async (directory) => {
    const path = join(directory, 'output');
    await run(requireProgram('ffmpeg'), ['-nostdin', '-loglevel', 'error', ...args.split(' '), path]);
    return path;
  });
}

/** What `make` writes into a directory that is gone afterwards. */
async function readBack(make: (directory: string) => Promise<string>): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-hostile-'));
  try {
    return await readFile(await make(directory));
  } finally {
    await rm(directory, { recursive: true });
  }
}

// ------------------------------------------------------------------------------------------------ lying headers

const wavLies: readonly { claim: string; at: number; bytes: Buffer }[] = [
  { claim: 'a rate of 0 Hz', at: 24, bytes: uint32(0) },
  { claim: 'a rate of 1 Hz', at: 24, bytes: uint32(1) },
  { claim: 'a rate of 4 GHz', at: 24, bytes: uint32(4_000_000_000) },
  { claim: '0 channels', at: 22, bytes: uint16(0) },
  { claim: '65535 channels', at: 22, bytes: uint16(65_535) },
  { claim: 'frames of 0 bytes', at: 32, bytes: uint16(0) },
  { claim: 'frames of 65535 bytes', at: 32, bytes: uint16(65_535) },
];

const lyingRecipes: readonly Recipe[] = [
  ...wavLies.map(({ claim, at, bytes }): Recipe => ({
    name: `wav that claims ${claim}`,
    extension: 'wav',
    container: 'wav',
    holds: 'anything',
    content: () => overwrite(toneWav({ ...usual, rate: 16_000 }), at, bytes),
  })),
  {
    name: 'flac that claims one sample at 655 kHz',
    extension: 'flac',
    container: 'flac',
    holds: 'anything',
    content: async () => withStreamInfo(await recorded('flac', usual.words), { rate: 655_350, samples: 1 }),
  },
  {
    name: 'ogg/vorbis that claims a rate of 4 GHz',
    extension: 'ogg',
    container: 'ogg',
    holds: 'anything',
    content: async () => withOggRate(await recorded('ogg/vorbis', usual.words), 4_000_000_000),
  },
  {
    name: 'ogg/opus that claims a rate of 1 Hz',
    extension: 'ogg',
    container: 'ogg',
    holds: 'anything',
    content: async () => withOggRate(await recorded('ogg/opus', usual.words), 1),
  },
];

function overwrite(file: Buffer, at: number, bytes: Uint8Array): Buffer {
  file.set(bytes, at);
  return file;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** STREAMINFO packs 20 bits of rate, 8 of channels and sample size, and 36 of length into eight bytes. */
function withStreamInfo(flac: Buffer, { rate, samples }: { rate?: number; samples: number }): Buffer {
  const at = 18;
  const packed = flac.readBigUInt64BE(at);
  const newRate = rate === undefined ? packed >> 44n : BigInt(rate);
  const format = (packed >> 36n) & 0xffn;
  flac.writeBigUInt64BE((newRate << 44n) | (format << 36n) | BigInt(samples), at);
  return flac;
}

/** Vorbis and Opus keep the rate at the same place of their first page. */
function withOggRate(ogg: Buffer, rate: number): Buffer {
  overwrite(ogg, 40, uint32(rate));
  sealOggPage(ogg.subarray(0, ogg.indexOf('OggS', 4)));
  return ogg;
}

// ---------------------------------------------------------------------------------------- decompression bombs

/** The most that an upload may have. */
const uploadLimit = 25 * 1024 * 1024;

const bombRecipes: readonly Recipe[] = [
  {
    name: 'ten hours of silence in 6 MB of flac, whose clock starts again every minute',
    extension: 'flac',
    container: 'flac',
    holds: 'hours',
    content: () => endlessMinute(),
  },
  {
    name: 'seventeen days of opus in 25 MiB of ogg',
    extension: 'ogg',
    container: 'ogg',
    holds: 'hours',
    content: () => opusBomb(),
  },
];

/**
 * One minute's frames over and over. Their numbers repeat, so ffmpeg's clock never reaches what `-t` allows, and it
 * complains on stderr about every frame.
 */
async function endlessMinute(): Promise<Buffer> {
  const rate = 8_000;
  const repeats = 600;
  const minute = await ffmpeg(`-f lavfi -i anullsrc=r=${rate}:cl=mono -t 60 -c:a flac -f flac`);
  const framesAt = minute.indexOf(Buffer.from([0xff, 0xf8]));
  const header = withStreamInfo(minute.subarray(0, framesAt), { samples: 60 * rate * repeats });
  return Buffer.concat([header, ...Array<Buffer>(repeats).fill(minute.subarray(framesAt))]);
}

/** One byte of Opus may say that 120 ms passed without a sound; an Ogg page holds 255 such packets. */
function opusBomb(): Buffer {
  const twoSilentFramesOf60Ms = 0x19;
  const packets = 255;
  const samples = packets * 0.12 * 48_000;
  const body = Buffer.alloc(packets, twoSilentFramesOf60Ms);
  const packetLengths = Buffer.alloc(packets, 1);

  const pages = ['OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'OpusTags\0\0\0\0\0\0\0\0'].map((header, sequence) =>
    oggPage({ packetLengths: Buffer.of(header.length), body: Buffer.from(header, 'latin1'), sequence, granule: 0 }),
  );
  const headerBytes = Buffer.concat(pages).length;
  const pageBytes = oggPage({ packetLengths, body, sequence: 0, granule: 0 }).length;
  const count = Math.floor((uploadLimit - headerBytes) / pageBytes);
  for (let page = 1; page <= count; page++) {
    pages.push(oggPage({ packetLengths, body, sequence: page + 1, granule: page * samples }));
  }
  return Buffer.concat(pages);
}

// --------------------------------------------------------------------------------------------------------- Ogg

interface OggPage {
  /** Each below 255. */
  readonly packetLengths: Uint8Array;
  readonly body: Uint8Array;
  readonly sequence: number;
  /** Samples up to the end of the page. */
  readonly granule: number;
}

function oggPage({ packetLengths, body, sequence, granule }: OggPage): Buffer {
  const header = Buffer.alloc(27);
  const beginningOfStream = 2;
  header.write('OggS', 0);
  header.writeUInt8(sequence === 0 ? beginningOfStream : 0, 5);
  header.writeBigUInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(sequence, 18);
  header.writeUInt8(packetLengths.length, 26);
  return sealOggPage(Buffer.concat([header, packetLengths, body]));
}

/** A page whose checksum is wrong is thrown away. */
function sealOggPage(page: Buffer): Buffer {
  const checksumAt = 22;
  page.writeUInt32LE(0, checksumAt);
  let checksum = 0;
  for (const byte of page) checksum = (checksum << 8) ^ oggChecksums[(checksum >>> 24) ^ byte]!;
  page.writeUInt32LE(checksum >>> 0, checksumAt);
  return page;
}

/** CRC-32 with the usual polynomial but, unlike zlib's, the highest bit first. */
const oggChecksums = Int32Array.from({ length: 256 }, (_, byte) => {
  let checksum = byte << 24;
  for (let bit = 0; bit < 8; bit++) checksum = (checksum << 1) ^ (checksum < 0 ? 0x04c11db7 : 0);
  return checksum;
});

// ------------------------------------------------------------------------------------------------------ the list

export const hostileFiles: readonly HostileKind[] = [
  ...scriptRecipes,
  ...damagedRecipes,
  ...lyingRecipes,
  ...bombRecipes,
].map(({ content, ...kind }) => ({
  ...kind,
  async make(surroundings) {
    const path = join(surroundings.directory, fileName(kind.name, kind.extension));
    await writeFile(path, await content(surroundings), { flag: 'wx' });
    return path;
  },
}));
