/** The `decode` of an engine's context, with either decoder, and by a copy. */
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Recording } from '../../engines/contract/index.ts';
import { createDecoder } from '../../src/audio/decode/index.ts';
import { describeWith, requireProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';

const stay = () => ({ signal: new AbortController().signal });

async function upload(bytes: Uint8Array): Promise<Recording & { readonly directory: string }> {
  const directory = await temporaryDirectory();
  const path = join(directory, 'upload');
  await writeFile(path, bytes);
  return { directory, path, bytes: bytes.length, container: 'wav', mediaType: 'audio/wav' };
}

function decodesAgain(ffmpeg: () => string | undefined, rate = 48_000): void {
  const decoder = () => createDecoder({ ffmpeg: ffmpeg(), maxSeconds: 60, accountOf: () => undefined });
  const speech = toneWav({ words: ['alpha'], rate });

  test('decodes a recording repeatedly and in parallel, each to its own file', async () => {
    const decode = decoder();
    const { directory, ...recording } = await upload(speech);
    const first = await decode(recording, stay());
    const others = await Promise.all([decode(recording, stay()), decode(recording, stay())]);
    const all = [first, ...others];
    expect(all.map(({ endMs }) => endMs)).toEqual([1250, 1250, 1250]);
    expect(new Set(all.map(({ wavPath }) => wavPath)).size).toBe(3);
    const [one, ...rest] = await Promise.all(all.map(({ wavPath }) => readFile(wavPath)));
    for (const other of rest) expect(other.equals(one!)).toBe(true);
    expect((await readdir(directory)).sort()).toEqual(
      ['upload', ...all.map(({ wavPath }) => basename(wavPath))].sort(),
    );
  });

  test('decodes all of several joined recordings', async () => {
    const recording = await upload(Buffer.concat([speech, toneWav({ words: ['über'], rate: 44_100 }), speech]));
    expect((await decoder()(recording, stay())).endMs).toBe(3750);
  });

  test('leaves no file after a failure or an abort, and decodes the next time', async () => {
    const decode = decoder();
    const { directory, ...recording } = await upload(speech);
    await truncate(recording.path, 20);
    await expect(decode(recording, stay())).rejects.toMatchObject({ code: 'recording-undecodable' });
    await writeFile(recording.path, speech);
    const caller = new AbortController();
    const aborted = decode(recording, { signal: caller.signal });
    caller.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    expect(await readdir(directory)).toEqual(['upload']);
    expect((await decode(recording, stay())).endMs).toBe(1250);
  });
}

describeWith(['ffmpeg'], 'ffmpeg', () => decodesAgain(() => requireProgram('ffmpeg')));
describe('WASM', () => decodesAgain(() => undefined));
describe('a copy', () => decodesAgain(() => undefined, 16_000));
