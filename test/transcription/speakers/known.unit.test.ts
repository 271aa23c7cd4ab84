/** References of known speakers: what is decoded of them, and what is left. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decoder } from '../../../src/audio/decode/index.ts';
import { decodeKnown } from '../../../src/transcription/speakers/known.ts';
import { referenceOf } from '../../support/speaker-finder.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const { signal } = new AbortController();
const dataUrl = (bytes: Uint8Array) => `data:audio/wav;base64,${Buffer.from(bytes).toString('base64')}`;

async function decodeInto(directory: string, reference: string) {
  const limits: unknown[] = [];
  const decode: Decoder = ({ path, maxSeconds }) => {
    limits.push(maxSeconds);
    return Promise.resolve({ wavPath: path, startMs: 0, endMs: 2_000, gaps: [] });
  };
  const known = await decodeKnown([{ name: 'Ada', reference }], join(directory, 'upload'), { decode, signal });
  return { known, limits };
}

test('at most 30 s of a reference are decoded, and only the decoded file is left', async () => {
  const directory = await temporaryDirectory();
  const { known, limits } = await decodeInto(directory, dataUrl(referenceOf('first')));
  expect(known).toMatchObject([{ name: 'Ada', sound: { startMs: 0, endMs: 2_000 } }]);
  expect(limits).toEqual([30]);
  expect(await readdir(directory)).toEqual([]);
});

test.each([
  ['a text', 'data:,x'],
  ['invalid base64', 'data:audio/wav;base64,@@@@'],
  ['cut base64', 'data:audio/wav;base64,UklGR'],
  ['a second encoding', 'data:;base64;base64,AAAA'],
  ['markup', 'data:text/html,<script>'],
  ['zeros', `data:audio/wav;base64,${'A'.repeat(100_000)}`],
])('%s is no recording', async (_what, reference) => {
  const directory = await temporaryDirectory();
  await expect(decodeInto(directory, reference)).rejects.toMatchObject({ code: 'invalid-request' });
  expect(await readdir(directory)).toEqual([]);
});
