/** `parlance sandbox -- COMMAND`, and what a process has after it has started and disposed of fifty sandboxes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runScript } from '../support/scripts.ts';
import { entriesOf, temporaryDirectory, writeFiles } from '../support/temporary.ts';

const main = new URL('../../src/bin/sandbox.ts', import.meta.url).pathname;

async function run(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryDirectory();
  const TMPDIR = await temporaryDirectory();
  await writeFiles(cwd, files);
  const end = await runScript('src/bin/sandbox.ts', args, { cwd, env: { TMPDIR } });
  expect(await entriesOf(TMPDIR)).toEqual([]);
  return end;
}

describe('the command', () => {
  it('finds the sandbox in its environment, and its exit code is that of the sandbox', async () => {
    const script = `
      const { PARLANCE_URL, OPENAI_BASE_URL, OPENAI_API_KEY: key, NODE_ENV } = process.env;
      const chat = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'say: Hello' }] };
      const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + key };
      const call = { method: 'POST', headers, body: JSON.stringify(chat) };
      const answer = await (await fetch(OPENAI_BASE_URL + '/chat/completions', call)).json();
      const { status } = await fetch(PARLANCE_URL + '/readyz');
      console.log(answer.choices[0].message.content, status, process.argv[1], NODE_ENV);
      process.exit(7);`;
    // A sandbox does not read the settings of the project.
    const files = { 'parlance.config.yaml': 'nonsense: true\n' };
    const args = ['--', process.execPath, '--input-type=module', '-e', script, '--', '--config'];
    expect(await run(args, files)).toEqual({ code: 7, stdout: 'Hello 200 --config undefined\n', stderr: '' });
  });

  it('has the answers of --config', async () => {
    const files = { 'test.yaml': 'engines: { mock: { use: sandbox, answers: [{ contains: Hi, say: Hello }] } }\n' };
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] });
    const line = `curl -s --json '${body}' $PARLANCE_URL/api/v1/chat`;
    const { stdout } = await run(['--config', 'test.yaml', '--', 'sh', '-c', line], files);
    expect(JSON.parse(stdout)).toMatchObject({ content: 'Hello' });
  });

  it.each([
    [['--', 'sh', '-c', 'kill -KILL $$'], 137, /^$/],
    [['--', './not-there'], 127, /^parlance sandbox: \.\/not-there cannot be started: .*ENOENT\n$/],
    [[], 2, /^parlance sandbox: a command is missing/],
    [['pytest', '-q'], 2, /^unknown option "-q"\n\nUsage: /],
    [['--config', 'nothing.yaml', '--', 'true'], 1, /^Parlance cannot start\.\n.*there is no file/],
  ])('%j ends with %d', async (args, code, stderr) => {
    expect(await run(args)).toEqual({ code, stdout: '', stderr: expect.stringMatching(stderr) as string });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('receives %s, and is waited for', async (signal) => {
    const TMPDIR = await temporaryDirectory();
    const script = `process.once('${signal}', () => setTimeout(() => process.exit(3), 20));
      console.log('ready'); setInterval(() => {}, 1000);`;
    const args = ['--conditions=parlance-source', main, '--', process.execPath, '-e', script];
    const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR }, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([3, null]);
    expect(await entriesOf(TMPDIR)).toEqual([]);
  });
});

/** Runs a module that may import `@parlance/server/sandbox`. */
async function runModule(source: string, env: Readonly<Record<string, string>>) {
  const cwd = new URL('../..', import.meta.url).pathname;
  const args = ['--conditions=parlance-source', '--input-type=module', '-e', source];
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const end = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { end: await end, stdout, stderr };
}

it('neither a sandbox that cannot start nor twelve that are not disposed of leave files behind', async () => {
  const TMPDIR = await temporaryDirectory();
  const script = `
    import { readdirSync } from 'node:fs';
    import { startSandbox } from '@parlance/server/sandbox';
    await startSandbox({ config: 'not-there.yaml' }).catch(() => {});
    await startSandbox({ answers: [{ contains: 'a', call: 'look_up' }] }).catch(() => {});
    console.log(readdirSync(process.env.TMPDIR).length);
    for (let time = 0; time < 12; time += 1) await startSandbox();
    process.exit(3);`;
  expect(await runModule(script, { TMPDIR })).toEqual({ end: [3, null], stdout: '0\n', stderr: '' });
  expect(await entriesOf(TMPDIR)).toEqual([]);
});

it('fifty sandboxes leave no files, open descriptors or processes behind, and nothing keeps the process alive', async () => {
  const cwd = await temporaryDirectory();
  const TMPDIR = await temporaryDirectory();
  const script = `
    import { once } from 'node:events';
    import { readdirSync } from 'node:fs';
    import { startSandbox } from '@parlance/server/sandbox';
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const use = async (speaks) => {
      await using sandbox = await startSandbox();
      if (speaks) await sandbox.client.transcribe(await sandbox.speak('Hello.', 'mp3'));
    };
    for (let time = 0; time < 2; time += 1) await use(true);
    // Nothing is being closed anymore when this event comes.
    process.once('beforeExit', async () => {
      const first = descriptors();
      for (let time = 2; time < 50; time += 1) await use(time % 10 === 9);
      await once(process, 'beforeExit');
      console.log(JSON.stringify({ first, last: descriptors(), files: readdirSync(process.env.TMPDIR) }));
    });`;
  const { end, stdout } = await runModule(script, { TMPDIR, HOME: cwd });
  expect(end).toEqual([0, null]);
  const { first, last, files } = JSON.parse(stdout) as { first: number; last: number; files: string[] };
  expect(last).toBe(first);
  expect(files).toEqual([]);
  expect(await entriesOf(cwd)).toEqual([]);
});
