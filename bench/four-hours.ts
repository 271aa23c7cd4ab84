/**
 * Run it by hand: `node --conditions=parlance-source bench/four-hours.ts`. It transcribes a recording of four hours as
 * a job with the tone model and default settings, while another caller sends 20 short recordings. Prints the
 * measurements.
 */
import { openAsBlob } from 'node:fs';
import { mkdtempDisposable, open, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { wavHeader } from '../lib/wav.ts';
import { end, read, type JobView } from '../test/jobs/support/jobs.ts';
import { spawnService } from '../test/support/child-service.ts';
import { requireProgram } from '../test/support/programs.ts';
import { toneWav, writeToneModel } from '../test/support/tone-model.ts';

const hours = Number(process.env.HOURS ?? 4);
const [long, short] = ['a-key-of-twenty-characters-1', 'a-key-of-twenty-characters-2'];
const as = (key: string) => ({ authorization: `Bearer ${key}` });
const log = (text: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);

await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-four-hours-'));
const modelFile = join(directory.path, 'tone.bin');
await writeToneModel(modelFile);
const memo = toneWav({ words: ['alpha', 'bravo', 'charlie'], rate: 16_000 });

/** Repeats the same 30 s: some words, then a pause. */
const path = join(directory.path, 'lecture.wav');
{
  const turn = Buffer.alloc(30 * 32_000);
  toneWav({ words: ['alpha', 'bravo', 'charlie', 'delta'], rate: 16_000 }).copy(turn, 0, 44);
  const turns = hours * 120;
  await using file = await open(path, 'w');
  await file.writeFile(wavHeader(turns * turn.length));
  for (let done = 0; done < turns; done += 1) await file.writeFile(turn);
}
log(`${hours} hours, ${Math.round((await stat(path)).size / 1e6)} MB`);

const dataDir = join(directory.path, 'data');
await using service = await spawnService({
  env: { NODE_ENV: 'production', WHISPER_CLI: requireProgram('whisper-cli'), API_KEYS: `${long},${short}` },
  config: `engines:\n  local: { use: whisper-cli, slots: 1, models: [{ id: local, file: "${modelFile}" }] }\n`,
  dataDir,
});
log(`before: ${megabytes(service.memory().now)}`);

const form = new FormData();
form.set('file', await openAsBlob(path), 'lecture.wav');
const began = performance.now();
const answer = await fetch(`${service.url}/api/v1/transcriptions`, { method: 'POST', headers: as(long), body: form });
const { id } = (await answer.json()) as JobView;
log(`accepted with ${answer.status} after ${seconds(performance.now() - began)}, ${megabytes(service.memory().peak)}`);

let mostDisk = 0;
let isOver = false;
const watching = watch();
const waits: number[] = [];
const shorts = sendShorts();
const job = await end(service, id, as(long));
isOver = true;
await Promise.all([watching, shorts]);
log(
  `${job.status} after ${seconds(performance.now() - began)}, ${job.segments.length} segments ${job.problem?.detail ?? ''}`,
);
log(`words: ${job.result?.text.split(/\s+/).length}`);
log(`RSS of the service: ${megabytes(service.memory().peak)} at its highest, ${megabytes(service.memory().now)} now`);
log(`disk: ${megabytes(mostDisk)} at its highest`);
log(`short recordings (s): ${waits.map((ms) => (ms / 1000).toFixed(1)).join(' ')}`);
const pieces = service
  .log()
  .filter(({ queue_ms: ms }) => ms !== undefined)
  .map(({ queue_ms: ms }) => Math.round(Number(ms)));
log(`their waits in the line (ms): ${pieces.join(' ')}`);

async function watch(): Promise<void> {
  let last = -1;
  while (!isOver) {
    mostDisk = Math.max(mostDisk, await sizeOf(dataDir));
    const { processed_ms: done, status } = await read(service, id, as(long));
    if (Math.floor(done / 1_800_000) !== last) {
      last = Math.floor(done / 1_800_000);
      log(`${status}: ${Math.round(done / 60_000)} minutes, ${megabytes(service.memory().now)}`);
    }
    await pause(2_000);
  }
}

/** Sends one recording after the other, from the first part of the job on. */
async function sendShorts(): Promise<void> {
  while ((await read(service, id, as(long))).processed_ms === 0) await pause(500);
  for (let count = 0; count < 20 && !isOver; count += 1) {
    const body = new FormData();
    body.set('file', new File([new Uint8Array(memo)], 'memo.wav'));
    const sent = performance.now();
    const response = await fetch(`${service.url}/api/v1/transcribe`, { method: 'POST', headers: as(short), body });
    if (response.status !== 200) log(`a short recording got ${response.status}`);
    await response.arrayBuffer();
    waits.push(performance.now() - sent);
    await pause(3_000);
  }
}

async function sizeOf(place: string): Promise<number> {
  const names = await readdir(place, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(place, name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
