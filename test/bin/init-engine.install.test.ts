/** What `init-engine` writes, in a clone; test/package installs, builds and checks it. */
import { mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runScript } from '../support/scripts.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const home = resolve(import.meta.dirname, '../..');
const init = (cwd: string, ...args: string[]) => runScript('src/bin/init-engine.ts', args, { cwd });

it('writes a package with the example of its capability, which depends on the tarball that the clone packs', async () => {
  const cwd = await temporaryDirectory();
  const { code, stdout, stderr } = await init(cwd, 'my-voice', '--capability', 'speech');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Created \S+\/my-voice: package\.json, tsconfig\.json, src\/index\.ts, README\.md, \.gitignore\./,
  );
  const text = (path: string) => readFile(join(cwd, 'my-voice', path), 'utf8');
  const example = await readFile(join(home, 'examples/engines/speech.ts'), 'utf8');
  expect(await text('src/index.ts')).toBe(example.replaceAll('my-engine', 'my-voice'));
  const manifest = JSON.parse(await text('package.json')) as { name: string; devDependencies: Record<string, string> };
  expect(manifest.name).toBe('my-voice');
  const [, path = ''] = /^file:(.*)$/.exec(manifest.devDependencies['@parlance/server'] ?? '') ?? [];
  expect(resolve(cwd, 'my-voice', path)).toMatch(new RegExp(`^${home}/parlance-server-[\\d.]+\\.tgz$`));
});

it('overwrites nothing, and follows no link out of the folder', async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, 'there'));
  await symlink('elsewhere', join(cwd, 'linked'));
  for (const name of ['there', 'linked']) {
    const { code, stderr } = await init(cwd, name, '--capability', 'chat');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `init-engine: ${join(cwd, name)} already exists; not overwritten\n`,
    });
  }
  expect(await readdir(cwd, { recursive: true })).toEqual(['linked', 'there']);
});

it.for([
  [['../out', '--capability', 'chat'], '"../out" is not a valid package name'],
  [['mine', '--capability', 'toString'], '--capability must be one of transcription, chat, speech'],
  [['mine', '--capabilty', 'chat'], "Unknown option '--capabilty'"],
] as const)('refuses %j', async ([args, message]) => {
  const cwd = await temporaryDirectory();
  const { code, stderr } = await init(cwd, ...args);
  expect(stderr).toMatch(message);
  expect(stderr).toContain('\n\nUsage: npm run init-engine -- NAME --capability transcription|chat|speech\n');
  expect(code).toBe(2);
  expect(await readdir(cwd)).toEqual([]);
});
