/** The option `recordings`: without it, a test with a recording of its own cannot choose its transcript. */
import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { noise } from '../support/noise.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { wav } from '../support/tone-model.ts';

const words = await readFile(spokenWords);
const others = [1, 2, 3].map((seed) =>
  wav(new Int16Array(Uint8Array.from(noise(32_000, seed)).buffer), { rate: 16_000, channels: 1 }),
);

async function start(files: Readonly<Record<string, string | Buffer>>): Promise<Sandbox> {
  const recordings = await temporaryDirectory();
  await writeFiles(recordings, files);
  const sandbox = await startSandbox({ recordings });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  return sandbox;
}

it('has the transcripts beside the recordings, in three formats', async () => {
  const { client } = await start({
    'meeting.wav': words,
    'meeting.vtt':
      '\uFEFFWEBVTT\r\n\r\nNOTE no cue\r\n\r\nintro\r\n00:00.100 --> 00:00.900 line:0\r\n<v Ann>Tom &amp; Ann\r\n<i>meet.</i>\r\n\r\n00:00:01.000 --> 01:00:00.000\r\nToo long\r\n',
    'a.b.wav': others[0]!,
    'a.b.srt': '1\n00:00:00,000 --> 00:00:00,500\nGuten Tag.\n\n2\n00:00:00,600 --> 00:00:00,700\n \n',
    'note.wav': others[1]!,
    'note.TXT': 'First line.\n\n  Second   line. ',
  });
  const timestamps = 'segment' as const;
  expect(await client.transcribe(words, { timestamps })).toMatchObject({
    text: 'Tom & Ann meet. Too long',
    language: null,
    segments: [
      { start_ms: 100, end_ms: 900, text: 'Tom & Ann meet.' },
      { start_ms: 1000, end_ms: 2100, text: 'Too long' },
    ],
  });
  expect((await client.transcribe(others[0]!)).text).toBe('Guten Tag.');
  expect(await client.transcribe(others[1]!, { timestamps: 'word', language: 'de' })).toMatchObject({
    text: 'First line. Second line.',
    language: 'de',
    words: [{ start_ms: 0 }, {}, {}, { end_ms: 1000, text: 'line.' }],
  });
  expect((await client.transcribe(others[2]!)).text).toBe('The sandbox has heard a recording.');
});

it('is refused at the start without its folder, or with a transcript alone', async () => {
  await expect(start({ 'a.vtt': 'WEBVTT\n', 'ab.wav': words })).rejects.toThrow(
    /recordings: .* no recording beside a\.vtt/,
  );
  await expect(startSandbox({ recordings: '/nowhere/at/all' })).rejects.toThrow(/recordings: ENOENT/);
});
