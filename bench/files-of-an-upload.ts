/**
 * Prints the files in which a function runs during one upload to a warm service with a local model: the files that a
 * newcomer reads to follow a request. `node bench/files-of-an-upload.ts [CLONE]`; CLONE is another clone of the
 * repository, to compare.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { writeParrotModel } from '../test/support/parrot-model.ts';
import { requireProgram } from '../test/support/programs.ts';
import { toneWav } from '../test/support/tone-model.ts';
import { transcribe } from './support/service.ts';

const home = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
const modelFile = join(directory.path, 'model.bin');
await writeParrotModel(modelFile, { size: 'tiny' });
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
  // 48 kHz, as browsers record: ffmpeg decodes it.
  const wav = toneWav({ words: ['alpha', 'bravo', 'charlie'], rate: 48_000, tailSeconds: 0 });
  const upload = async () => {
    const { status } = await transcribe({ url }, new Blob([new Uint8Array(wav)]));
    if (status !== 200) throw new Error(`the upload was answered with ${status}`);
  };
  for (let warm = 0; warm < 3; warm += 1) await upload();
  await filesSince(); // discards the files that ran until now
  await upload();
  const files = (await filesSince())
    .filter((file) => file.startsWith(`${home}/`))
    .map((file) => file.slice(home.length + 1));
  for (const file of files.toSorted()) console.log(file);
  console.log(`${files.length} files`);
} finally {
  service.kill();
}

async function filesSince(): Promise<readonly string[]> {
  const answer = once(service, 'message');
  service.send('take');
  const [files] = (await answer) as [readonly string[]];
  return files.filter((file) => !/\/(node_modules|bench)\//.test(file));
}
