/**
 * `npm run sbom`: prints a CycloneDX list of the packages that the service runs with. `npm sbom --omit=dev` leaves out
 * every package that a devDependency needs as well (62 of 129 remain), so npm reads a copy without devDependencies.
 * The list has no Node.js and no programs such as ffmpeg: in an image these are in the base, and dpkg lists them.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parlance-sbom-'));

/** @param {string[]} args */
function npm(...args) {
  const { status, stdout, stderr, error } = spawnSync('npm', [...args, '--package-lock-only', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    timeout: 120_000,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ${args[0]} failed:\n${stderr}`);
  return stdout;
}

try {
  const manifest = JSON.parse(readFileSync(`${home}package.json`, 'utf8'));
  delete manifest.devDependencies;
  delete manifest.overrides;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  copyFileSync(`${home}package-lock.json`, join(folder, 'package-lock.json'));
  npm('install', '--offline', '--no-audit', '--no-fund');
  process.stdout.write(npm('sbom', '--sbom-format=cyclonedx'));
} finally {
  rmSync(folder, { recursive: true });
}
