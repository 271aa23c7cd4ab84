/**
 * `npm run sbom`: prints a CycloneDX list of the packages that the service runs with. `npm sbom --omit=dev` leaves out
 * every package that a devDependency needs as well (62 of 129 remain), so npm reads a copy without devDependencies.
 * With --image it adds what else is in an image of Debian: Node.js, npm and the packages of dpkg, ffmpeg among them.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parlance-sbom-'));

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, ...args) {
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26, timeout: 120_000 };
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args[0]} failed:\n${stderr}`);
  return stdout;
}

/** @param {string[]} args */
const npm = (...args) => run('npm', ...args, '--package-lock-only', '--ignore-scripts');

/** @type {(type: string, name: string, version: string, purl: string) => object} */
const component = (type, name, version, purl) => ({ type, name, version, purl, 'bom-ref': purl });

function programs() {
  const node = process.versions.node;
  const npmVersion = run('npm', '--version').trim();
  const lines = run('dpkg-query', '--show', '--showformat=${Package} ${Version} ${Architecture}\n').trim().split('\n');
  return [
    component('platform', 'node', node, `pkg:generic/node@${node}`),
    component('application', 'npm', npmVersion, `pkg:npm/npm@${npmVersion}`),
    ...lines.map((line) => {
      const [name = '', version = '', architecture = ''] = line.split(' ');
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
      return component('library', name, version, purl);
    }),
  ];
}

try {
  const manifest = JSON.parse(readFileSync(`${home}package.json`, 'utf8'));
  delete manifest.devDependencies;
  delete manifest.overrides;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  copyFileSync(`${home}package-lock.json`, join(folder, 'package-lock.json'));
  npm('install', '--offline', '--no-audit', '--no-fund');
  const bom = JSON.parse(npm('sbom', '--sbom-format=cyclonedx'));
  if (process.argv.includes('--image')) bom.components.push(...programs());
  process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
