/**
 * Prints the files in which a function runs during one upload to a warm service with a local model, or with `--live`
 * during one live turn, from the connection to the transcript: the files that a newcomer reads to follow a request.
 * `node bench/files-of-an-upload.ts [--live] [CLONE]`; CLONE is another clone of the repository, to compare. Files that
 * run without a request, too, such as those of the looks at the models every 2 s, are printed apart.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quiet, sound, voice } from '../test/realtime/support.ts';
import { requireProgram } from '../test/support/programs.ts';
import { toneWav, writeToneModel } from '../test/support/tone-model.ts';
import { liveRate, openLiveSession } from './support/live-session.ts';
import { transcribe } from './support/service.ts';

const { values, positionals } = parseArgs({ options: { live: { type: 'boolean' } }, allowPositionals: true });
const home = resolve(positionals[0] ?? join(import.meta.dirname, '..'));
await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
const modelFile = join(directory.path, 'model.en.bin');
await writeToneModel(modelFile, { englishOnly: true });
const config = join(directory.path, 'settings.yaml');
await writeFile(config, `engines: { local: { use: whisper-cli, models: [{ id: local, file: ${modelFile} }] } }`);
const counter = join(import.meta.dirname, 'support/count-functions.mjs');
const service = fork(join(home, 'src/bin/start.ts'), {
  cwd: home,
  execArgv: ['--conditions=parlance-source', '--import', counter],
  env: {
    ...process.env,
    ...{ NODE_ENV: 'production', TRANSCRIBE_SETUP: 'off', PARLANCE_CONFIG: config, PORT: '0', LOG_FORMAT: 'json' },
    ...{ DATA_DIR: join(directory.path, 'data'), WHISPER_CLI: requireProgram('whisper-cli') },
  },
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
});
try {
  const [line] = (await once(createInterface({ input: service.stderr as NodeJS.ReadableStream }), 'line')) as [string];
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
  const request = values.live ? () => speakTurn(url) : () => upload(url);
  for (let warm = 0; warm < 3; warm += 1) await request();
  await filesSince(); // discards the files that ran until now
  let files = await filesBetweenLooks(request);
  for (let again = 0; again < 7; again += 1) files = files.intersection(await filesBetweenLooks(request));
  const idle = await filesOf(() => wait(5_000));
  print(idle.difference(files), 'files that run without a request');
  print(files, values.live ? 'files of a live turn' : 'files of an upload');
} finally {
  service.kill();
}

async function upload(url: string): Promise<void> {
  // 48 kHz, as browsers record: ffmpeg decodes it.
  const wav = toneWav({ words: ['alpha', 'bravo', 'charlie'], rate: 48_000, tailSeconds: 0 });
  const { status } = await transcribe({ url }, new Blob([new Uint8Array(wav)]));
  if (status !== 200) throw new Error(`the upload was answered with ${status}`);
}

async function speakTurn(url: string): Promise<void> {
  await using session = await openLiveSession({ url });
  const transcript = session.transcript();
  session.append(sound(liveRate, [quiet, 500], [voice, 500], [quiet, 600]), 100);
  await transcript;
  session.leave('close');
  await session.closed;
}

/** The looks at the models come every 2 s: of several requests that are shorter, one has none. */
async function filesBetweenLooks(request: () => Promise<void>): Promise<Set<string>> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const started = performance.now();
    const files = await filesOf(request);
    if (performance.now() - started < 1_500) return files;
  }
  throw new Error('the machine is too busy: no request took less than 1.5 s');
}

async function filesOf(work: () => Promise<unknown>): Promise<Set<string>> {
  await work();
  return filesSince();
}

async function filesSince(): Promise<Set<string>> {
  const answer = once(service, 'message');
  service.send('take');
  const [files] = (await answer) as [readonly string[]];
  const ours = files.filter((file) => file.startsWith(`${home}/`) && !/\/(node_modules|bench)\//.test(file));
  return new Set(ours.map((file) => file.slice(home.length + 1)));
}

function print(files: ReadonlySet<string>, what: string): void {
  for (const file of [...files].toSorted()) console.log(file);
  console.log(`${files.size} ${what}\n`);
}
