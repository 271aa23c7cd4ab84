/**
 * `npm run sbom`: prints a CycloneDX list of the packages that the service runs with, including those of
 * src/fleet/packages/. `npm sbom --omit=dev` leaves out every package that a devDependency needs as well (62 of 129
 * remain), so npm reads a copy without devDependencies. With --image, it adds the rest of a Debian image: Node.js, npm,
 * whisper.cpp and the dpkg packages, including ffmpeg.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parlance-sbom-'));

/**
 * @param {string} cwd
 * @param {string} program
 * @param {string[]} args
 */
function run(cwd, program, ...args) {
  const options = { cwd, encoding: 'utf8', maxBuffer: 1 << 26, timeout: 120_000 };
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args[0]} failed:\n${stderr}`);
  return stdout;
}

/** @param {string} cwd */
const bomOf = (cwd) => JSON.parse(run(cwd, 'npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'));

/** @type {(type: string, name: string, version: string, purl: string) => object} */
const component = (type, name, version, purl) => ({ type, name, version, purl, 'bom-ref': purl });

function programs() {
  const node = process.versions.node;
  const npmVersion = run(home, 'npm', '--version').trim();
  const whisperCli = `node_modules/@parlance/whisper-linux-${process.arch}/bin/whisper-cli`;
  const [, whisper] = /version:? *(\S+)/.exec(run(home, `${home}${whisperCli}`, '--version'));
  const lines = run(home, 'dpkg-query', '--show', '--showformat=${Package} ${Version} ${Architecture}\n');
  return [
    component('platform', 'node', node, `pkg:generic/node@${node}`),
    component('application', 'npm', npmVersion, `pkg:npm/npm@${npmVersion}`),
    component('application', 'whisper.cpp', whisper, `pkg:github/ggml-org/whisper.cpp@v${whisper}`),
    ...lines
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', version = '', architecture = ''] = line.split(' ');
        const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
        return component('library', name, version, purl);
      }),
  ];
}

/** Adds the packages of another SBOM as dependencies of the service. */
function add(bom, { metadata, components, dependencies }) {
  const root = metadata.component['bom-ref'];
  const known = new Set(bom.components.map((one) => one['bom-ref']));
  bom.components.push(...components.filter((one) => !known.has(one['bom-ref'])));
  const service = bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref']);
  service.dependsOn.push(...dependencies.find(({ ref }) => ref === root).dependsOn);
  bom.dependencies.push(...dependencies.filter(({ ref }) => ref !== root && !known.has(ref)));
}

try {
  const manifest = JSON.parse(readFileSync(`${home}package.json`, 'utf8'));
  delete manifest.devDependencies;
  delete manifest.overrides;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  copyFileSync(`${home}package-lock.json`, join(folder, 'package-lock.json'));
  run(folder, 'npm', 'install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund');
  const bom = bomOf(folder);
  add(bom, bomOf(`${home}src/fleet/packages`));
  if (process.argv.includes('--image')) bom.components.push(...programs());
  process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
