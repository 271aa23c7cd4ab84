/** Finds espeak-ng-data, which the library needs to turn text into phonemes. Its files are under GPL-3.0. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { EngineContext } from '../contract/index.ts';
import { makeWholeDirectory } from '../lib/whole-directory.ts';
import { findExecutable } from '../../lib/find-executable.ts';
import { parseObject, textOf } from '../../lib/json.ts';

export interface EspeakData {
  readonly directory: string;
  /** Unpacks the directory if it is missing. */
  readonly make: () => Promise<void>;
}

type Context = Pick<EngineContext, 'env' | 'resolve' | 'dataDir'>;

/** Order: the directory of the option, of the installed program, of the package. A named directory has no fallback. */
export function findEspeakData(named: string | undefined, context: Context): EspeakData | undefined {
  if (named !== undefined) return isData(context.resolve(named)) ? existing(context.resolve(named)) : undefined;
  const program = findExecutable('espeak-ng', context.env.PATH ?? '');
  const installed = program === undefined ? undefined : dataOf(program);
  return installed === undefined ? dataOfPackage(context) : existing(installed);
}

const existing = (directory: string): EspeakData => ({ directory, make: () => Promise.resolve() });

const isData = (directory: string): boolean => existsSync(join(directory, 'phontab'));

const triplets: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/** Debian installs the data below lib/TRIPLET, other systems below share or lib. */
function dataOf(program: string): string | undefined {
  const prefix = dirname(dirname(program));
  const places = ['share', 'lib', join('lib', triplets[process.arch] ?? '')];
  return places.map((place) => join(prefix, place, 'espeak-ng-data')).find(isData);
}

const packageName = '@echogarden/espeak-ng-emscripten';

/** Only reads the files of the package, which is under the GPL and is never loaded into this process. */
function dataOfPackage(context: Context): EspeakData | undefined {
  const script = resolvePackage();
  if (script === undefined) return undefined;
  const facts = parseObject(readFileSync(join(dirname(script), 'package.json'), 'utf8'));
  const directory = join(context.dataDir, 'voices', `espeak-ng-data-${textOf(facts?.version)}`);
  return { directory, make: () => makeWholeDirectory(directory, (path) => unpack(script, path)) };
}

function resolvePackage(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(packageName);
  } catch {
    return undefined; // an optional dependency
  }
}

/** Emscripten concatenates the 459 files (24 MB) into one; the script has their offsets. */
async function unpack(script: string, directory: string): Promise<void> {
  const packed = await readFile(script.replace(/\.js$/, '.data'));
  const entries = (await readFile(script, 'utf8')).matchAll(
    /"\/usr\/share\/espeak-ng-data\/([^"]+)",start:(\d+),end:(\d+)/g,
  );
  for (const [, name = '', start, end] of entries) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, packed.subarray(Number(start), Number(end)));
  }
}
