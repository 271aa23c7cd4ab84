/**
 * `parlance sandbox -- COMMAND`: starts a sandbox, and runs a command with the sandbox's address in its environment.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { messageOf } from '../../lib/errors.ts';
import { startSandbox } from '../sandbox/index.ts';
import { readCommandLine } from './command-line.ts';
import { whenOrphaned } from './orphan.ts';
import { explainStartFailure } from './startup-error.ts';

const commandLine = readCommandLine({
  command: 'sandbox',
  about: [
    'Starts a sandbox on a free port, runs a command, and exits with its exit code. The command finds the sandbox by the',
    'variables PARLANCE_URL, OPENAI_BASE_URL and OPENAI_API_KEY.',
  ].join('\n'),
  example: ['--', 'pytest'],
  takes: ['config'],
  rest: '-- COMMAND',
});

/**
 * Exit codes of a shell for a command that cannot be started, and (plus the signal's number) for one that a signal has
 * ended.
 */
const notFound = 127;
const bySignal = 128;

async function run([command, ...args]: readonly string[]): Promise<number> {
  if (command === undefined) {
    console.error('parlance sandbox: a command is missing, such as: parlance sandbox -- pytest');
    return 2;
  }
  await using sandbox = await startSandbox({ config: process.env.PARLANCE_CONFIG });
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...sandbox.env } });
  // A terminal sends SIGINT to the command itself.
  const pass = (signal: NodeJS.Signals) => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, pass);
  whenOrphaned(process.env, () => child.kill());
  return await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`parlance sandbox: ${command} cannot be started: ${messageOf(error)}`);
      resolve(notFound);
    });
    child.once('exit', (code, signal) => resolve(code ?? bySignal + constants.signals[signal ?? 'SIGKILL']));
  });
}

if (commandLine) await run(commandLine.rest).then((code) => process.exit(code), explainStartFailure);
