/** Detects the container of a recording from its first bytes; file name and media type are ignored. */
import type { FileHandle } from 'node:fs/promises';
import type { Container } from '../../engines/contract/index.ts';
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
  /** Not supported; `detected` is shown to the client. */
  | { readonly container: undefined; readonly detected: string };

interface Signature {
  readonly at?: number;
  readonly bytes: string;
}

/** Latin-1 strings at byte offsets; all of a row must match. */
const accepted: readonly { readonly container: Container; readonly signature: readonly Signature[] }[] = [
  { container: 'webm', signature: [{ bytes: '\x1a\x45\xdf\xa3' }] },
  // A segment of a stream begins with its own type.
  ...['ftyp', 'styp'].map((bytes) => ({ container: 'mp4', signature: [{ at: 4, bytes }] }) as const),
  { container: 'ogg', signature: [{ bytes: 'OggS' }] },
  ...['RIFF', 'RF64', 'BW64'].map(
    (bytes) => ({ container: 'wav', signature: [{ bytes }, { at: 8, bytes: 'WAVE' }] }) as const,
  ),
  { container: 'flac', signature: [{ bytes: 'fLaC' }] },
];

/** Common mistakes, so that the problem can name them. */
const known: readonly { readonly detected: string; readonly signature: readonly Signature[] }[] = [
  { detected: 'a PDF document', signature: [{ bytes: '%PDF' }] },
  { detected: 'a PNG image', signature: [{ bytes: '\x89PNG' }] },
  { detected: 'a JPEG image', signature: [{ bytes: '\xff\xd8\xff' }] },
  { detected: 'a GIF image', signature: [{ bytes: 'GIF8' }] },
  { detected: 'a ZIP archive', signature: [{ bytes: 'PK\x03\x04' }] },
  { detected: 'gzip data', signature: [{ bytes: '\x1f\x8b' }] },
  { detected: 'AIFF audio', signature: [{ bytes: 'FORM' }, { at: 8, bytes: 'AIF' }] },
  { detected: 'CAF audio', signature: [{ bytes: 'caff' }] },
  { detected: 'AMR audio', signature: [{ bytes: '#!AMR' }] },
  { detected: 'Sun audio (.au)', signature: [{ bytes: '.snd' }] },
  { detected: 'Windows media (ASF)', signature: [{ bytes: '\x30\x26\xb2\x75' }] },
  { detected: 'an AVI video', signature: [{ bytes: 'RIFF' }, { at: 8, bytes: 'AVI ' }] },
  { detected: 'a MIDI file', signature: [{ bytes: 'MThd' }] },
  { detected: 'QuickTime without its type box', signature: [{ at: 4, bytes: 'moov' }] },
  { detected: 'an HLS playlist', signature: [{ bytes: '#EXTM3U' }] },
  { detected: 'an ffconcat script', signature: [{ bytes: 'ffconcat' }] },
  { detected: 'a session description (SDP)', signature: [{ bytes: 'v=0' }] },
];

const headBytes = 64;
/** At least four of the longest MP3 frames. */
const syncBytes = 8192;

/** Reads the first bytes, and after an ID3 tag also those that follow it. */
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

/** Length of an ID3v2 tag: a header of ten bytes, and a size of four 7-bit digits. */
function id3Length(head: string): number {
  return 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.charCodeAt(at) & 0x7f), 0);
}

/** Undefined for unknown bytes. */
function classify(head: string): Sniffed | undefined {
  const match = ({ signature }: { readonly signature: readonly Signature[] }) =>
    signature.every(({ at = 0, bytes }) => head.startsWith(bytes, at));
  const container = accepted.find(match)?.container;
  if (container !== undefined) return { container };
  const detected = known.find(match)?.detected ?? describeUtf16(head); // its byte order mark begins like a frame
  if (detected !== undefined) return { container, detected };
  return classifyFrame(head);
}

/** Of audio, only MP3 and FLAC are accepted behind an ID3 tag. Real MP3 files have padding or junk after their tag. */
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
  if (!/^\xff[\xf0\xf1\xf8\xf9]/.test(head)) return undefined;
  return { container: undefined, detected: 'AAC audio without a container (ADTS)' };
}

/** A recording may begin within a frame or with padding. A frame counts when two of its format follow it. */
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

/** The layer of an MPEG audio frame: eleven sync bits, then version, layer, bit rate and sample rate, none of them reserved. */
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
