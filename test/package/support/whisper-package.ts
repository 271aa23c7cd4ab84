/** The package with the programs of whisper-cli for this platform, as npm installs it. */
import { cp, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { npm, quietly } from './installed.ts';

const folder = resolve(import.meta.dirname, `../../../packages/whisper-linux-${process.arch}`);

/** Tarball of scripts/build-whisper-packages.ts, where the release and people name one: its programs are tested then. */
export const builtTarball = process.env.WHISPER_PACKAGE && resolve(process.env.WHISPER_PACKAGE);

/**
 * Packs the package with programs that this machine has: to compile all variants takes ten minutes. Returns the path of the
 * tarball.
 */
export async function packPrograms(directory: string, programs: Readonly<Record<string, string>>): Promise<string> {
  const place = join(directory, 'whisper-package');
  await mkdir(join(place, 'bin'), { recursive: true });
  await cp(join(folder, 'package.json'), join(place, 'package.json'));
  for (const [name, path] of Object.entries(programs)) await cp(path, join(place, 'bin', name));
  const [packed] = JSON.parse(await npm(place, 'pack', '--json', `--pack-destination=${directory}`)) as {
    filename: string;
  }[];
  return join(directory, packed?.filename ?? 'nothing was packed');
}

/** Beside the packages of the project. Returns where it is. */
export async function installPrograms(project: string, tarball: string): Promise<string> {
  await npm(project, 'install', ...quietly, tarball);
  return join(project, 'node_modules/@parlance', `whisper-linux-${process.arch}`);
}
