/** A download to a disk of its own, without room for it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeAsRoot } from '../../deployment/support.ts';
import { requireProgram } from '../../support/programs.ts';
import { good, serve, temporaryDirectory } from '../../engines/whisper-cli/support.ts';

const downloadModule = new URL('../../../src/engine-host/assets/download.ts', import.meta.url).href;

const script = `
    import { readdir } from 'node:fs/promises';
  import { download } from '${downloadModule}';
  const ignore = () => {};
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const [directory, url] = process.argv.slice(1);
  const { signal } = new AbortController();
  const job = { url, to: directory + '/model.bin', digest: '0'.repeat(64), maxBytes: 2 ** 22, fetch, signal, progress: ignore, log };
  const failure = await download(job).catch(({ message }) => message);
  console.log(JSON.stringify({ failure, left: await readdir(directory) }));`;

describeAsRoot('on a full disk', () => {
  test('a download says how much it needs, and deletes the partial file', async () => {
    const { url } = await serve(good(Buffer.alloc(3 * 2 ** 20)));
    const directory = await temporaryDirectory();
    const mount = `${requireProgram('mount')} -t tmpfs -o size=1m none "$0" && exec "$@"`;
    const node = [process.execPath, '--input-type=module', '-e', script, directory, `${url}/model.bin`];
    const { stdout } = await promisify(execFile)('unshare', ['--mount', 'sh', '-c', mount, directory, ...node]);
    expect(JSON.parse(stdout)).toEqual({
      failure: `disk full: model.bin needs 4 MB in ${directory}`,
      left: ['.locks'],
    });
  });
});
