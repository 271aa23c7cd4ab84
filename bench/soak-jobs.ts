/**
 * `npm run soak:jobs`: kills the service with SIGKILL at random moments while a job of 40 parts is running, and starts
 * it again, 50 times (SOAK_KILLS). Each job must end with every word once, in order, and leave no recording behind.
 * SOAK_SEED repeats a run.
 */
import { readdirSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '../test/fuzz/mutate.ts';
import { create, end, remove } from '../test/jobs/support/jobs.ts';
import { speechOf, textOf, wordEngine } from '../test/jobs/support/speech.ts';
import { spawnService } from '../test/support/child-service.ts';

const kills = Number(process.env.SOAK_KILLS ?? 50);
const seed = Number(process.env.SOAK_SEED ?? Date.now() % 2 ** 31);
const random = createRandom(seed);
console.log(`Seed ${seed} (again: SOAK_SEED=${seed} npm run soak:jobs)`);

const words = 300;
const recording = speechOf(words);
const env = { TRANSCRIBE_MAX_SECONDS: '4', JOBS_TEST_MS: '40', LOG_LEVEL: 'warn' };
/** Approximate duration of a job without a kill. */
const jobMs = 3_500;

await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-soak-'));
const dataDir = join(directory.path, 'data');
const start = () => spawnService({ ...wordEngine, env, dataDir });
let whole = 0;
const began = performance.now();
for (let kill = 1; kill <= kills; kill += 1) {
  const moment = Math.round(random() * jobMs);
  let id: string;
  {
    await using service = await start();
    ({ id } = await create(service, recording, { model: 'slow' }));
    await pause(moment);
    service.kill('SIGKILL');
    await service.exit;
  }
  await using service = await start();
  const job = await end(service, id);
  const isWhole = job.result?.text === textOf(words) && job.segments.length === words;
  await remove(service, id);
  const left = [...readdirSync(join(dataDir, 'jobs/recordings')), ...(await service.leftovers())];
  whole += isWhole && left.length === 0 ? 1 : 0;
  console.log(`${kill}: killed after ${moment} ms, ${isWhole ? 'whole' : 'NOT WHOLE'} ${left.join(' ')}`);
}
console.log(`${whole} of ${kills} in ${Math.round((performance.now() - began) / 1000)} s`);
if (whole < kills) process.exitCode = 1;
