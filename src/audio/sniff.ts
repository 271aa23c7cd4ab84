/** Detects the container of a recording from its first bytes; the file name and media type are ignored. */
import type { FileHandle } from 'node:fs/promises';
import type { Container } from '../../engines/contract/index.ts';
import { audioSignatures } from '../../lib/audio-signatures.ts';
import { haveSameFormat, readMp3Frame } from '../../lib/mp3-frame.ts';

export const mediaTypes: Readonly<Record<Container, string>> = {
  webm: 'audio/webm',
  mp4: 'audio/mp4',
  ogg: 'audio/ogg',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
};

export type Sniffed =
  | { readonly container: Container }
  /** An unsupported format. The client sees `detected`. */
  | { readonly container: undefined; readonly detected: string };

/** Containers with a signature. MP3 files have none. */
const signed = ['webm', 'mp4', 'ogg', 'wav', 'flac'] as const;

/** Common unsupported formats, which the error message names. */
const known: readonly (readonly [detected: string, signature: RegExp])[] = [
  ['a PDF document', /^%PDF/],
  ['a PNG image', /^\x89PNG/],
  ['a JPEG image', /^\xff\xd8\xff/],
  ['a GIF image', /^GIF8/],
  // eslint-disable-next-line no-control-regex -- the signatures are bytes
  ['a ZIP archive', /^PK\x03\x04/],
  // eslint-disable-next-line no-control-regex -- the signatures are bytes
  ['gzip data', /^\x1f\x8b/],
  ['AIFF audio', /^FORM.{4}AIF/s],
  ['CAF audio', /^caff/],
  ['AMR audio', /^#!AMR/],
  ['Sun audio (.au)', /^\.snd/],
  ['Windows media (ASF)', /^\x30\x26\xb2\x75/],
  ['an AVI video', /^RIFF.{4}AVI /s],
  ['a MIDI file', /^MThd/],
  ['an HLS playlist', /^#EXTM3U/],
  ['an ffconcat script', /^ffconcat/],
  ['a session description (SDP)', /^v=0/],
];

const headBytes = 64;
/** Enough for at least four MP3 frames of maximum length. */
const syncBytes = 8192;

/** Reads the first bytes. If they start an ID3 tag, also reads the bytes after the tag. */
export async function sniff(file: FileHandle): Promise<Sniffed> {
  const head = await readAt(file, 0);
  if (head.startsWith('ID3')) return classifyTagged(await readAt(file, id3Length(head)));
  const sniffed = classify(head);
  if (sniffed !== undefined) return sniffed;
  if (hasMp3Frames(await readAt(file, 0, syncBytes))) return { container: 'mp3' };
  return { container: undefined, detected: describeText(head) ?? describeBytes(head) };
}

async function readAt(file: FileHandle, position: number, length = headBytes): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Returns the length of an ID3v2 tag: a ten-byte header plus the size, which is encoded as four 7-bit digits. */
function id3Length(head: string): number {
  return 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.charCodeAt(at) & 0x7f), 0);
}

/** Returns undefined if the bytes are not recognized. */
function classify(head: string): Sniffed | undefined {
  const container = signed.find((name) => audioSignatures[name].test(head));
  if (container !== undefined) return { container };
  // Checked before MP3 frames, because the UTF-16 byte order mark looks like one.
  const [detected = describeUtf16(head)] = known.find(([, signature]) => signature.test(head)) ?? [];
  if (detected !== undefined) return { container, detected };
  return classifyFrame(head);
}

/** Only MP3 and FLAC are accepted after an ID3 tag. Real MP3 files may have padding or junk after the tag. */
function classifyTagged(head: string): Sniffed {
  const { container = 'mp3' } = classify(head) ?? {};
  if (container !== 'mp3' && container !== 'flac') {
    return { container: undefined, detected: `a ${container} file behind an ID3 tag` };
  }
  return container === 'flac' ? { container } : (classifyFrame(head) ?? { container });
}

function classifyFrame(head: string): Sniffed | undefined {
  const layer = mpegLayer(head);
  if (layer === 3) return { container: 'mp3' };
  if (layer !== undefined) return { container: undefined, detected: `MPEG audio layer ${'I'.repeat(layer)}` };
  if (!audioSignatures.aac.test(head)) return undefined;
  return { container: undefined, detected: 'AAC audio without a container (ADTS)' };
}

/**
 * A recording may begin within a frame or with padding. A frame counts only if two more frames of the same format
 * follow.
 */
function hasMp3Frames(head: string): boolean {
  const bytes = Buffer.from(head, 'latin1');
  const frameAt = (at: number) => (at + 4 > bytes.length ? undefined : readMp3Frame(bytes.readUInt32BE(at)));
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const first = frameAt(at);
    const second = first && frameAt(at + first.bytes);
    const third = second && frameAt(at + first.bytes + second.bytes);
    if (third && haveSameFormat(first, second) && haveSameFormat(second, third)) return true;
  }
  return false;
}

/**
 * Returns the layer of an MPEG audio frame; undefined if the bytes are not a frame. A frame starts with eleven sync
 * bits, then version, layer, bit rate and sample rate, none with a reserved value.
 */
function mpegLayer(head: string): number | undefined {
  const [b0, b1, b2] = [head.charCodeAt(0), head.charCodeAt(1), head.charCodeAt(2)];
  const version = (b1 >> 3) & 3;
  const layer = 4 - ((b1 >> 1) & 3);
  const isSync = b0 === 0xff && (b1 & 0xe0) === 0xe0;
  return isSync && version !== 1 && layer !== 4 && b2 >> 4 !== 15 && ((b2 >> 2) & 3) !== 3 ? layer : undefined;
}

function describeText(head: string): string | undefined {
  if (/^\s*<[?!a-z]/i.test(head)) return 'an XML or HTML document';
  if (/^\s*\{\s*["}]/.test(head)) return 'a JSON document';
  return isText(head, 'utf-8') ? 'text' : undefined;
}

function describeUtf16(head: string): string | undefined {
  const encoding = ({ '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' } as const)[head.slice(0, 2)];
  return encoding !== undefined && isText(head, encoding) ? 'text in UTF-16' : undefined;
}

function isText(head: string, encoding: string): boolean {
  const text = new TextDecoder(encoding).decode(Buffer.from(head, 'latin1'), { stream: true });
  return /^([\t\n\r]|[^\p{Cc}\p{Cn}\ufffd])+$/u.test(text);
}

function describeBytes(head: string): string {
  if (head === '') return 'nothing';
  const hex = Buffer.from(head.slice(0, 8), 'latin1').toString('hex');
  return `data that starts with the bytes ${hex.replace(/..(?=.)/g, '$& ')}`;
}
