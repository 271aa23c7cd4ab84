/** A data directory that cannot be made: every command says which setting to change, soon. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

const advice = 'set DATA_DIR to a directory that this user can write';

async function run(script: string, env: Readonly<Record<string, string>>) {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, { file: '' });
  const resolved = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('CWD', cwd)]));
  const end = await runScript(`src/bin/${script}.ts`, [], {
    cwd,
    env: { PORT: '0', LOG_LEVEL: 'silent', ...resolved },
  });
  return { ...end, cwd };
}

describe.each(['start', 'doctor', 'setup'])('%s', (script) => {
  it('refuses a DATA_DIR below a file', async () => {
    const { code, stderr, cwd } = await run(script, { DATA_DIR: 'CWD/file/data' });
    const place = join(cwd, 'file/data');
    expect(stderr).toBe(
      `Parlance cannot start.\n  DATA_DIR: ${place} cannot be used: ENOTDIR: not a directory, mkdir '${place}/tmp'; ${advice}\n`,
    );
    expect(code).toBe(1);
  });

  // Node's own recursive mkdir never returns there.
  it.runIf(process.platform === 'linux')('refuses a DATA_DIR in /proc', async () => {
    const { code, stderr } = await run(script, { DATA_DIR: '/proc/x' });
    expect(stderr).toContain(`DATA_DIR: /proc/x cannot be used: ENOENT: no such file or directory`);
    expect(stderr).toContain(advice);
    expect(code).toBe(1);
  });
});

describe('a HOME that cannot be written', () => {
  it('is what setup names, with the setting', async () => {
    const { code, stderr, cwd } = await run('setup', { HOME: 'CWD/file', PATH: '/nowhere' });
    const place = join(cwd, 'file/.local/share/parlance');
    expect(stderr).toContain(
      `Cannot create the data directory: ENOTDIR: not a directory, mkdir '${place}'. fix: set DATA_DIR`,
    );
    expect(stderr.match(/Cannot create the data directory/g)).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('is what the doctor finds', async () => {
    const { stdout, cwd } = await run('doctor', { HOME: 'CWD/file' });
    const place = join(cwd, 'file/.local/share/parlance');
    expect(stdout).toContain(
      `MISSING data         ${place} cannot be used: ENOTDIR: not a directory, mkdir '${place}'\n          fix: ${advice}\n`,
    );
  });
});
