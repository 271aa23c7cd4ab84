/** Requests for speakers are decoded by the service itself, whose decoders are limited in number. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formOf } from '../../jobs/support/jobs.ts';
import { speechOf, wordEngine } from '../../jobs/support/speech.ts';
import { startTestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A decoder may write no file, but make directories: one while it runs, and one for the number that it has seen. */
const source = (directory: string) => `#!/bin/sh
PATH=/bin:/usr/bin
cd '${directory}'
mkdir run-$$
mkdir -p seen-$(ls -d run-* | wc -l)
while [ ! -e go ]; do sleep 0.02; done
rmdir run-$$
exit 1
`;

test('no more decoders run at once than there are processors', async () => {
  const directory = await temporaryDirectory();
  const ffmpeg = join(directory, 'ffmpeg');
  await writeFile(ffmpeg, source(directory), { mode: 0o755 });
  await using service = await startTestService({ ...wordEngine, env: { FFMPEG: ffmpeg } });
  const recording = speechOf(2);
  recording.writeUInt32LE(48_000, 24); // what is 16 kHz is copied, not decoded
  const slots = availableParallelism();
  const answers = Array.from({ length: slots + 3 }, async () => {
    const body = formOf(recording, { model: 'words', channels: 'separate' });
    return (await service.api('/transcribe', { method: 'POST', body })).status;
  });
  const uploads = async () => (await service.leftovers()).filter((path) => path.endsWith('/upload')).length;
  await expect.poll(uploads, { timeout: 20_000 }).toBe(answers.length);
  const running = async () => (await readdir(directory)).filter((name) => name.startsWith('run-')).length;
  await expect.poll(running, { timeout: 20_000 }).toBe(slots);
  await mkdir(join(directory, 'go'));
  expect(new Set(await Promise.all(answers))).toEqual(new Set([422]));
  const seen = (await readdir(directory)).flatMap((name) => /^seen-(\d+)$/.exec(name)?.[1] ?? []);
  expect(Math.max(...seen.map(Number))).toBe(slots);
});
