/** Recordings of tone speech (tone-model.ts) in every container and codec that callers send, made by ffmpeg. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container } from '../../engines/contract/index.ts';
import { makeOncePerRun } from './once-per-run.ts';
import { requireProgram, run } from './programs.ts';
import { type Speech, toneWav, type Word } from './tone-model.ts';

export interface RecordingKind {
  readonly name: string;
  readonly container: Container;
  readonly extension: string;
  /** Of AAC there is no decoder in our WASM fallback. */
  readonly needsFfmpegToDecode: boolean;
  /** Writes a recording of the words into the directory, which must not hold one of this kind yet. */
  make(words: readonly Word[], options: MakeOptions): Promise<string>;
}

export interface MakeOptions extends Pick<Speech, 'language' | 'tailSeconds'> {
  readonly directory: string;
}

/** What most tests have in their recordings: the same words, so that they share them. The lowest and the highest tone. */
export const usual = {
  words: ['alpha', 'über', '"foxtrot"', 'back\\slash'],
  language: 'de',
} as const satisfies Pick<Speech, 'words' | 'language'>;

interface Encoding {
  readonly name: string;
  readonly container: Container;
  /** Of what is given to the encoder. */
  readonly rate: number;
  readonly channels?: number;
  /** Arguments of ffmpeg. */
  readonly encode: string;
  readonly needsFfmpegToDecode?: true;
  /** What ffmpeg cannot do by itself. */
  readonly finish?: (encoded: Buffer) => Buffer;
}

const encodings: readonly Encoding[] = [
  {
    name: 'webm/opus as MediaRecorder writes it (no duration, live clusters)',
    container: 'webm',
    rate: 48_000,
    encode: '-c:a libopus -frame_duration 60 -f webm -live 1 -cluster_time_limit 1000',
    finish: asMediaRecorderStreams,
  },
  { name: 'webm/opus ordinary', container: 'webm', rate: 48_000, channels: 2, encode: '-c:a libopus -f webm' },
  {
    name: 'mp4/aac with the moov at the end',
    container: 'mp4',
    rate: 44_100,
    encode: '-c:a aac -f mp4',
    needsFfmpegToDecode: true,
  },
  {
    name: 'mp4/aac fragmented (Safari)',
    container: 'mp4',
    rate: 48_000,
    channels: 2,
    encode: '-c:a aac -f mp4 -movflags empty_moov+default_base_moof -frag_duration 1000000',
    needsFfmpegToDecode: true,
  },
  { name: 'mp4/opus', container: 'mp4', rate: 48_000, encode: '-c:a libopus -f mp4' },
  { name: 'ogg/opus', container: 'ogg', rate: 48_000, encode: '-c:a libopus -f ogg' },
  { name: 'ogg/vorbis', container: 'ogg', rate: 44_100, channels: 2, encode: '-c:a libvorbis -f ogg' },
  {
    name: 'mp3 with Xing header',
    container: 'mp3',
    rate: 44_100,
    channels: 2,
    encode: '-c:a libmp3lame -q:a 5 -f mp3 -id3v2_version 0',
  },
  {
    name: 'mp3 without Xing header',
    container: 'mp3',
    rate: 22_050,
    encode: '-c:a libmp3lame -q:a 5 -f mp3 -id3v2_version 0 -write_xing 0',
  },
  {
    name: 'mp3 with an ID3 tag',
    container: 'mp3',
    rate: 16_000,
    encode: '-c:a libmp3lame -b:a 32k -f mp3 -metadata title=Memo',
  },
  ...wavEncodings(),
  {
    name: 'wav of unknown length, as it comes out of a pipe',
    container: 'wav',
    rate: 16_000,
    encode: '-c:a pcm_s16le -f wav -seekable 0',
  },
  { name: 'flac', container: 'flac', rate: 44_100, channels: 2, encode: '-c:a flac -f flac' },
];

/** Each sample format and each rate in mono and in stereo: what reads samples knows no rate, and a resampler no format. */
function wavEncodings(): Encoding[] {
  const codecs = { s16: 'pcm_s16le', s24: 'pcm_s24le', f32: 'pcm_f32le', 'mu-law': 'pcm_mulaw' };
  const rates = [8_000, 16_000, 44_100, 48_000];
  return Object.entries(codecs).flatMap(([format, codec], row) =>
    [rates[row]!, rates.at(-1 - row)!].map((rate, column): Encoding => {
      const name = `wav ${format} at ${rate / 1000} kHz, ${column === 0 ? 'mono' : 'stereo'}`;
      return { name, container: 'wav', rate, channels: 1 + column, encode: `-c:a ${codec} -f wav` };
    }),
  );
}

export const recordings: readonly RecordingKind[] = encodings.map((encoding) => ({
  name: encoding.name,
  container: encoding.container,
  extension: encoding.container,
  needsFfmpegToDecode: encoding.needsFfmpegToDecode ?? false,
  make: (words, options) => make(encoding, words, options),
}));

export function recordingKind(name: string): RecordingKind {
  const kind = recordings.find((kind) => kind.name === name);
  if (!kind) throw new Error(`no recording "${name}"; there are: ${recordings.map(({ name }) => name).join(', ')}`);
  return kind;
}

export const fileName = (name: string, extension: string): string =>
  `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.${extension}`;

async function make(encoding: Encoding, words: readonly Word[], options: MakeOptions): Promise<string> {
  const { name, container, rate, channels = 1, encode, finish } = encoding;
  const { directory, ...speech } = options;
  const path = join(directory, fileName(name, container));
  await makeOncePerRun(JSON.stringify({ name, words, ...speech }), path, async () => {
    const input = toneWav({ words, rate, channels, ...speech });
    const args = ['-hide_banner', '-loglevel', 'error', '-n', '-f', 'wav', '-i', 'pipe:0', ...encode.split(' '), path];
    await run(requireProgram('ffmpeg'), args, { input });
    if (finish) await writeFile(path, finish(await readFile(path)));
  });
  return path;
}

/**
 * A browser sends its recording while it grows, so it knows no size when it begins an element and can add no index.
 * ffmpeg knows each cluster's size even when `-live` is on, and writes an index of what it knows.
 */
function asMediaRecorderStreams(webm: Buffer): Buffer {
  const [header, segment] = ebmlElements(webm);
  if (!header || !segment) throw new Error('ffmpeg wrote no webm');
  const unknownSize = '01ffffffffffffff';
  const streamed = ebmlElements(segment.body).flatMap(({ id, bytes, body }) => {
    if (id === ebmlIds.info || id === ebmlIds.tracks) return [bytes];
    if (id === ebmlIds.cluster) return [Buffer.from(id + unknownSize, 'hex'), body];
    return [];
  });
  return Buffer.concat([header.bytes, Buffer.from(segment.id + unknownSize, 'hex'), ...streamed]);
}

const ebmlIds = { info: '1549a966', tracks: '1654ae6b', cluster: '1f43b675' };

interface EbmlElement {
  readonly id: string;
  readonly bytes: Buffer;
  readonly body: Buffer;
}

function ebmlElements(buffer: Buffer): EbmlElement[] {
  const elements: EbmlElement[] = [];
  for (let at = 0; at < buffer.length;) {
    const sizeAt = at + numberLength(buffer, at);
    const bodyAt = sizeAt + numberLength(buffer, sizeAt);
    // An unknown size is all ones, more than any file: to the end.
    const end = Math.min(bodyAt + numberAt(buffer, sizeAt), buffer.length);
    elements.push({
      id: buffer.toString('hex', at, sizeAt),
      bytes: buffer.subarray(at, end),
      body: buffer.subarray(bodyAt, end),
    });
    at = end;
  }
  return elements;
}

/** As many leading zero bits as there are bytes after the first. */
const numberLength = (buffer: Buffer, at: number): number => Math.clz32(buffer.readUInt8(at)) - 23;

function numberAt(buffer: Buffer, at: number): number {
  const [first = 0, ...rest] = buffer.subarray(at, at + numberLength(buffer, at));
  return rest.reduce((value, byte) => value * 256 + byte, first & (0xff >> (rest.length + 1)));
}
