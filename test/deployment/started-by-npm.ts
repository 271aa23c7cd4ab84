import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { processes, type Process } from '../support/proc.ts';
import { temporaryDirectory } from '../support/temporary.ts';

export interface StartedByNpm {
  readonly npm: ChildProcess;
  readonly url: string;
  /** Resolves with npm's exit code and signal. */
  readonly exit: Promise<unknown[]>;
  /** The service's. */
  readonly pid: number;
  /** What has come on stderr so far. */
  readonly said: () => string;
}

/** `npm start` in this directory, in a process group of its own, as a terminal does it; or another command of npm. */
export async function startByNpm(
  home: string,
  env: NodeJS.ProcessEnv,
  command: readonly string[] = ['start'],
): Promise<StartedByNpm> {
  const npm = spawn('npm', command, {
    cwd: home,
    detached: true,
    env: {
      ...env,
      HOME: process.env.HOME,
      DATA_DIR: await temporaryDirectory(),
      PORT: '0',
      TRANSCRIBE_SETUP: 'off',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(npm, 'exit');
  onTestFinished(async () => {
    for (const { pid } of ofGroup(npm.pid!)) process.kill(pid, 'SIGKILL');
    await exit;
  });
  let said = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const address = () => /listens on (http\S+)/.exec(said)?.[1];
  await expect.poll(() => address() ?? npm.exitCode, { timeout: 100_000, message: `npm ${command[0]}` }).not.toBeNull();
  const url = address();
  if (url === undefined) throw new Error(`npm ${command[0]} has ended:\n${said}`);
  const service = ofGroup(npm.pid!).find(({ commandLine }) => /^\S*node .*src\/bin\/start\.ts$/.test(commandLine));
  return { npm, url, exit, pid: service!.pid, said: () => said };
}

export const ofGroup = (leader: number): Process[] => processes().filter(({ group }) => group === leader);
