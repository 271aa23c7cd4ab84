/**
 * `npm run build`: compiles the sources to JavaScript with declarations in dist/, and copies the other files that they
 * need.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
rmSync('dist', { recursive: true, force: true });
const compiler = ['node_modules/@typescript/native/bin/tsc', '-p', 'tsconfig.build.json'];
const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
if (status !== 0) process.exit(1);
for (const path of [
  'generated',
  ...globSync('{engines,lib,src}/**/*.{wav,cpp}'),
  ...globSync('engines/**/CMakeLists.txt'),
  ...globSync('engines/{lib/*,*}/packages/*/package*.json'),
]) {
  cpSync(path, `dist/${path}`, { recursive: true });
}
// Renamed from .ts, because the copy is a template and must not be compiled.
for (const path of globSync('examples/engines/*.ts')) {
  cpSync(path, `dist/src/bin/engine-templates/${basename(path)}.txt`);
}
