/** The log and the summary in a real pseudo-terminal (util-linux `script`), and where there is no terminal. */
import { chmod, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startChildService, type ChildService, type ProcessOptions } from '../support/child-service.ts';
import { findProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const script = findProgram('script');

/**
 * Where stdout and stderr are one terminal. What is on it arrives as stderr of the test. `script` runs a command line of a
 * shell, so the service is started by a file; it ends with its terminal (SIGHUP).
 */
async function startInTerminal(options: ProcessOptions): Promise<ChildService> {
  const dir = await temporaryDirectory();
  const through = join(dir, 'in-terminal');
  const inner = join(dir, 'inner');
  await writeFile(inner, '#!/bin/sh\nstty cols 100\nexec "$@"\n');
  const quoted = `"$(printf ' %s' "$@")"`; // no argument of the tests has a space
  await writeFile(through, `#!/bin/sh\nexec ${script!} -qefc "${inner} "${quoted} /dev/null >&2\n`);
  await Promise.all([inner, through].map((file) => chmod(file, 0o755)));
  return startChildService({ ...options, through: () => [through] });
}

const sandbox = { PARLANCE_SANDBOX: '1', TERM: 'xterm' };
const ask = (service: ChildService, path: string) => fetch(`${service.url}${path}`).then((answer) => answer.text());
// eslint-disable-next-line no-control-regex
const withoutColors = (text: string) => text.replace(/\x1b\[\d+m/g, '');

describe.skipIf(script === undefined)('in a terminal', () => {
  it('a line per request, in colors, and none of assets and probes', async () => {
    const service = await startInTerminal({ env: sandbox });
    const page = await ask(service, '/');
    const [, asset = ''] = /src="([^"]+\.js)"/.exec(page) ?? [];
    await ask(service, `/${asset}`);
    await ask(service, '/healthz');
    await ask(service, '/%9b31m');
    const seen = () => service.said.stderr;
    await expect.poll(seen).toMatch(/\x1b\[2m\d\d:\d\d:\d\d\x1b\[22m GET \/%9b31m \x1b\[33m404\x1b\[39m \d+ ms/); // eslint-disable-line no-control-regex
    expect(withoutColors(seen())).toMatch(/^\d\d:\d\d:\d\d GET \/ 200 \d+ ms\r$/m);
    expect(seen()).not.toContain(asset);
    expect(seen()).not.toContain('healthz');
    expect(seen()).not.toContain('"level"');
  });

  it('no colors with NO_COLOR', async () => {
    const service = await startInTerminal({ env: { ...sandbox, NO_COLOR: '1' } });
    await ask(service, '/');
    await expect.poll(() => service.said.stderr).toContain(' GET / 200 ');
    expect(service.said.stderr).not.toContain('\x1b');
  });

  it('JSON with LOG_FORMAT=json', async () => {
    const service = await startInTerminal({ env: { ...sandbox, LOG_FORMAT: 'json' } });
    await ask(service, '/nothing');
    await expect.poll(() => service.said.stderr).toMatch(/^\{"level":30,.*"path":"\/nothing".*\}\r$/m);
  });

  it('says what it downloads, how large, from where and how to stop it; progress and lines do not mix', async () => {
    // Accepts connections and stays silent: the download has begun, and does not end.
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const mirror = `http://127.0.0.1:${port}`;
    const service = await startInTerminal({
      env: { TERM: 'xterm', TRANSCRIBE_SETUP: 'on', WHISPER_CLI: process.execPath },
      config: `engines: { local: { use: whisper-cli, mirror: '${mirror}', voiceActivity: 'off', models: [{ id: base, file: data/models/ggml-base.bin }] } }`,
    });
    await ask(service, '/');
    const seen = () => service.said.stderr;
    await expect.poll(seen).toContain(' GET / ');
    const [bar] = /downloading Whisper base \[\.+\] {3}0 %/.exec(seen()) ?? [];
    expect(seen()).toMatch(/^Installing:\r\n {2}transcription {2}Whisper base: 149 MB, from 127\.0\.0\.1:\d+, license MIT\r\n {2}Ctrl-C stops it .*TRANSCRIBE_SETUP=off turns it off\.\r$/m); // prettier-ignore
    // Erased, the line, and drawn again in one piece.
    const between = new RegExp(`\\r\\x1b\\[2K\\S*\\d\\d:\\d\\d:\\d\\d\\S* GET / [^\\r]*\\r\\n${bar!.replace(/[[\].]/g, '\\$&')}`); // prettier-ignore
    expect(seen()).toMatch(between);
  });
});

describe('where stdout is no terminal', () => {
  it('the log is JSON, and the summary has no colors', async () => {
    const service = await startChildService({ env: sandbox });
    await ask(service, '/nothing');
    await expect
      .poll(() => service.log())
      .toContainEqual(expect.objectContaining({ msg: 'request', path: '/nothing' }));
    expect(service.said.stderr).not.toContain('\x1b');
  });

  it('LOG_FORMAT=text is text, with colors only by FORCE_COLOR', async () => {
    for (const [env, status] of [[{}, '404'], [{ FORCE_COLOR: '1' }, '\x1b[33m404\x1b[39m']] as const) {
      const service = await startChildService({ env: { ...sandbox, LOG_FORMAT: 'text', ...env } });
      await ask(service, '/nothing');
      await expect.poll(() => service.said.stdout).toContain(`GET /nothing ${status} `);
    }
  }); // prettier-ignore
});
