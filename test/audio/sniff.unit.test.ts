import { createHash } from 'node:crypto';
import { open, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containers } from '../../engines/contract/index.ts';
import { mediaTypes, sniff, type Sniffed } from '../../src/audio/sniff.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** A file of these Latin-1 characters. */
function fileOf(...parts: readonly string[]): FileHandle {
  const content = Buffer.from(parts.join(''), 'latin1');
  const read = (buffer: Buffer, offset: number, length: number, position: number) => {
    const bytesRead = content.copy(buffer, offset, position, position + length);
    return Promise.resolve({ buffer, bytesRead });
  };
  return { read } as unknown as FileHandle;
}

const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex').toString('latin1');
const rest = '\0'.repeat(100);
const mp3Frames = `${hex('fffb9064')}${'\0'.repeat(413)}`.repeat(3);

/** An ID3v2 tag with so many bytes behind its header. */
function id3(length: number, { version = 3, flags = 0 } = {}): string {
  const digits = [21, 14, 7, 0].map((shift) => (length >> shift) & 0x7f);
  return `ID3${String.fromCharCode(version, 0, flags, ...digits)}${'\0'.repeat(length)}`;
}

async function refusal(...parts: readonly string[]): Promise<string> {
  const sniffed = await sniff(fileOf(...parts));
  if (sniffed.container !== undefined) throw new Error(`it was taken for ${sniffed.container}`);
  return sniffed.detected;
}

describe('a container is detected from its first bytes', () => {
  it.each([
    ['webm', 'EBML', hex('1a45dfa3 9f 4286 81 01')],
    ['mp4', 'an ftyp box', `${hex('00000020')}ftypM4A `],
    ['mp4', 'an ftyp box of QuickTime', `${hex('00000014')}ftypqt  `],
    ['mp4', 'the styp box of a segment', `${hex('00000018')}stypmsdh`],
    ['mp4', 'the ftyp box of a fragmented file', `${hex('0000001c')}ftypiso5`],
    ['mp4', 'a wide box of QuickTime', `${hex('00000008')}wide${hex('00001000')}mdat`],
    ['mp4', 'the free box of a file without a type', `${hex('00000100')}free`],
    ['mp4', 'the moov box of a file without a type', `${hex('00000100')}moov`],
    ['mp4', 'the mdat box of a file without a type', `${hex('7f000100')}mdat`],
    ['ogg', 'a page', `OggS${hex('00 02')}`],
    ['wav', 'RIFF and WAVE', `RIFF${hex('24000000')}WAVEfmt `],
    ['wav', 'RIFF of unknown length and WAVE', `RIFF${hex('ffffffff')}WAVEfmt `],
    ['wav', 'RF64 and WAVE', `RF64${hex('ffffffff')}WAVEds64`],
    ['wav', 'BW64 and WAVE', `BW64${hex('ffffffff')}WAVEds64`],
    ['flac', 'its marker', `fLaC${hex('00000022')}`],
    ['flac', 'its marker behind an ID3 tag', `${id3(300)}fLaC`],
    ['mp3', 'a frame behind an ID3 tag', `${id3(300)}${hex('fffb9064')}`],
    ['mp3', 'a frame behind a tag of many bytes', `${id3(200_000, { version: 4 })}${hex('fffb9064')}`],
    ['mp3', 'two bytes before its frames', `\0\0${mp3Frames}`],
    ['mp3', 'the rest of a frame before its frames', `${hex('3e41434648')}${'x'.repeat(1400)}${mp3Frames}`],
    ['mp3', 'an ID3 tag with padding behind it', `${id3(10)}${rest}`],
    ['mp3', 'an ID3 tag and nothing else', id3(10)],
    ['mp3', 'half an ID3 tag', 'ID3\x03'],
  ])('%s: %s', async (container, _what, head) => {
    expect(await sniff(fileOf(head, rest))).toEqual({ container });
    if (container !== 'mp3') expect(await sniff(fileOf(head))).toEqual({ container });
  });

  it.each([
    ['MPEG-1, 128 kbit/s, 44.1 kHz', 'fffb9064'],
    ['MPEG-1 with a checksum', 'fffa9064'],
    ['MPEG-1, 320 kbit/s, 32 kHz', 'fffbe8c4'],
    ['MPEG-1 of free bit rate', 'fffb0064'],
    ['MPEG-2, 22.05 kHz', 'fff340c4'],
    ['MPEG-2 with a checksum', 'fff240c4'],
    ['MPEG-2.5, 8 kHz', 'ffe318c4'],
    ['MPEG-2.5 with a checksum', 'ffe218c4'],
  ])('mp3: a frame of %s', async (_what, frame) => {
    expect(await sniff(fileOf(hex(frame), rest))).toEqual({ container: 'mp3' });
  });

  it('and only a layer III frame without reserved values is mp3', async () => {
    const layer3 = new Set([0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2]);
    const wrong: string[] = [];
    for (let second = 0; second < 256; second++) {
      for (let third = 0; third < 256; third++) {
        const head = String.fromCharCode(0xff, second, third, 0);
        const { container } = await sniff(fileOf(head, rest));
        const isFrame = layer3.has(second) && third >> 4 !== 0b1111 && ((third >> 2) & 0b11) !== 0b11;
        if (container !== (isFrame ? 'mp3' : undefined)) wrong.push(Buffer.from(head, 'latin1').toString('hex'));
      }
    }
    expect(wrong).toEqual([]);
  });

  it('for any path, and has its media type', async () => {
    const path = join(await temporaryDirectory(), 'upload.pdf');
    await writeFile(path, `${id3(70_000)}fLaC`, 'latin1');
    await using file = await open(path);
    expect(await sniff(file)).toEqual({ container: 'flac' });
    expect(Object.keys(mediaTypes).toSorted()).toEqual(containers.toSorted());
  });
});

describe('a problem names what was detected:', () => {
  it.each([
    ['a PDF document', '%PDF-1.7'],
    ['a PNG image', hex('89504e470d0a1a0a')],
    ['a JPEG image', hex('ffd8ffe0')],
    ['a GIF image', 'GIF89a'],
    ['a ZIP archive', `PK${hex('0304')}`],
    ['gzip data', hex('1f8b08')],
    ['AIFF audio', `FORM${hex('00001000')}AIFFCOMM`],
    ['AIFF audio', `FORM${hex('00001000')}AIFCFVER`],
    ['CAF audio', 'caff'],
    ['AMR audio', '#!AMR\n'],
    ['AMR audio', '#!AMR-WB\n'],
    ['Sun audio (.au)', '.snd'],
    ['Windows media (ASF)', hex('3026b2758e66cf11')],
    ['an AVI video', `RIFF${hex('24000000')}AVI LIST`],
    ['a MIDI file', 'MThd'],
    ['an HLS playlist', '#EXTM3U\n#EXT-X-VERSION:3\n'],
    ['an ffconcat script', "ffconcat version 1.0\nfile 'a'\n"],
    ['a session description (SDP)', 'v=0\r\ns=memo\r\n'],
    ['an XML or HTML document', '<?xml version="1.0"?>'],
    ['an XML or HTML document', '<!doctype html>'],
    ['a JSON document', '{"file":1}'],
    ['AAC audio without a container (ADTS)', hex('fff15080')],
    ['AAC audio without a container (ADTS)', hex('fff14c80')],
    ['AAC audio without a container (ADTS)', hex('fff95c40')],
    ['AAC audio without a container (ADTS)', `${id3(300)}${hex('fff15080')}`],
    ['a wav file behind an ID3 tag', `${id3(300)}RIFF${hex('24000000')}WAVEfmt `],
    ['MPEG audio layer II', `${id3(300)}${hex('fffd8404')}`],
    ['MPEG audio layer II', hex('fffd8404')],
    ['MPEG audio layer I', hex('ffff8404')],
    ['MPEG audio layer I', hex('fffe8404')],
  ])('%s', async (detected, head) => {
    expect(await refusal(head, rest)).toBe(detected);
  });

  it.each([
    ['text', 'just a line of text\n'],
    ['text', 'The free encyclopedia\n'],
    ['text', '#!/bin/sh\nrm -rf /\n'],
    ['text', 'a long line '.repeat(100)],
    ['text', Buffer.from('Überall Grüße, '.repeat(10)).toString('latin1')],
    ['text', '<3 this recording'],
    ['text', String.raw`{\rtf1\ansi}`],
    ['text in UTF-16', Buffer.from('\ufeffhello', 'utf16le').toString('latin1')],
    ['text in UTF-16', Buffer.from('\ufeff東京 '.repeat(20), 'utf16le').toString('latin1')],
    ['text in UTF-16', Buffer.from('\ufeffhello', 'utf16le').swap16().toString('latin1')],
  ])('%s: %j', async (detected, content) => {
    expect(await refusal(content)).toBe(detected);
  });

  it('the first bytes of unknown data', async () => {
    expect(await refusal(hex('00 01 02 03 04 05 06 07 08 09'))).toBe(
      'data that starts with the bytes 00 01 02 03 04 05 06 07',
    );
    expect(await refusal(hex('80'))).toBe('data that starts with the bytes 80');
    expect(await refusal(`\0\0${hex('fffb9064')}${rest.repeat(100)}`)).toMatch(/^data that starts/); // one frame is an accident
  });

  it('"nothing" for an empty file', async () => {
    expect(await refusal('')).toBe('nothing');
  });
});

describe('no container is detected from', () => {
  it.each([
    ['a part of a marker', ['OggS', 'fLaC', 'RIFF\0\0\0\0WAVE', '\0\0\0\0ftyp', hex('1a45dfa3')]],
    ['a marker in the wrong place', ['OggS', 'fLaC', 'WAVE', 'ftyp', hex('1a45dfa3')]],
  ])('%s', async (what, markers) => {
    for (const marker of markers) {
      const head = what.includes('part') ? marker.slice(0, -1) : `\0\0${marker}`;
      expect(await refusal(head)).toBeTypeOf('string');
    }
  });

  it('RIFF or WAVE alone, or a lower-case signature', async () => {
    for (const head of [`RIFF\0\0\0\0WEBP`, `RIFX\0\0\0\0WAVE`, 'oggs', 'FLAC', 'id3\x03', '\0\0\0\0FTYP']) {
      expect(await refusal(head, rest)).toBeTypeOf('string');
    }
  });

  it('random bytes, unless they happen to be a signature', async () => {
    const accepted: Sniffed[] = [];
    for (let seed = 0; seed < 20_000; seed++) {
      const bytes = createHash('shake256', { outputLength: 64 }).update(String(seed)).digest().toString('latin1');
      const sniffed = await sniff(fileOf(bytes));
      // The one marker of less than four bytes; the table above knows which of them are frames.
      if (sniffed.container !== undefined && !bytes.startsWith('\xff')) accepted.push(sniffed);
      if (sniffed.container === undefined) expect(sniffed.detected).not.toBe('');
    }
    expect(accepted).toEqual([]);
  });
});
