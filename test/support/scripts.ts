/** The house's programs as their users run them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compileCache, tiedToUs } from './child-service.ts';

const home = join(import.meta.dirname, '../..');

export interface ScriptEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end. */
export async function runScript(
  script: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<ScriptEnd> {
  const [program, ...rest] = tiedToUs(process.execPath, '--conditions=parlance-source', join(home, script), ...args);
  const { PATH, HOME } = process.env;
  const child = spawn(program, rest, {
    cwd,
    env: { PATH, HOME, ...compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}
