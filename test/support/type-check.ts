/** Type-checks TypeScript sources with the compiler options of this repository. */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { temporaryDirectory, writeFiles } from './temporary.ts';

const home = resolve(import.meta.dirname, '../..');

/** The package's own exports, as its users import them. */
const paths = {
  '@parlance/server': [join(home, 'src/index.ts')],
  '@parlance/server/client': [join(home, 'src/client/index.ts')],
  '@parlance/server/sandbox': [join(home, 'src/sandbox/index.ts')],
  '@parlance/server/engine': [join(home, 'engines/contract/index.ts')],
};

/** Returns the compiler's errors, such as `fixture.ts(3,7): error TS2322: ...`. */
export async function typeErrors(sources: Readonly<Record<string, string>>): Promise<string[]> {
  const directory = await temporaryDirectory();
  await writeFiles(directory, {
    ...sources,
    'package.json': { type: 'module' },
    'tsconfig.json': {
      extends: join(home, 'tsconfig.json'),
      compilerOptions: {
        typeRoots: [join(home, 'node_modules/@types')],
        allowImportingTsExtensions: true,
        rewriteRelativeImportExtensions: false,
        paths,
      },
      include: [],
      files: Object.keys(sources),
    },
  });
  const compiler = join(home, 'node_modules/@typescript/native/bin/tsc');
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, [compiler, '-p', directory, '--pretty', 'false'], (_exit, stdout) => done(stdout));
  });
  return output.split('\n').filter((line) => line.includes(': error TS'));
}
