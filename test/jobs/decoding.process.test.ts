/** A decoder that runs into its limit is not started again: one recording is decoded at a time, whoever sent it. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { create, end } from './support/jobs.ts';
import { speechOf, wordEngine } from './support/speech.ts';

test('a decoder that is killed for its CPU time runs once', async () => {
  const directory = await temporaryDirectory();
  const ffmpeg = join(directory, 'ffmpeg');
  // A decoder may write no file; each of its runs makes a directory.
  await writeFile(ffmpeg, `#!/bin/sh\n/bin/mkdir '${directory}'/run-$$\nkill -XCPU $$\n`, { mode: 0o755 });
  await using service = await startTestService({ ...wordEngine, jobRetryMs: [1, 1, 1], env: { FFMPEG: ffmpeg } });
  const recording = speechOf(2);
  recording.writeUInt32LE(48_000, 24); // what is 16 kHz is copied, not decoded
  const { status, problem } = await end(service, (await create(service, recording)).id);
  expect({ status, code: problem?.code }).toEqual({ status: 'failed', code: 'engine-timeout' });
  expect((await readdir(directory)).filter((name) => name.startsWith('run-'))).toHaveLength(1);
});
