/**
 * Runs before every npm script, on whichever Node is there: installs the locked dependencies (the Node that the
 * project runs on among them) when node_modules is missing or out of step with the lockfile.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} path */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(`${home}${path}`, 'utf8')).packages;
  } catch {
    return undefined; // not there, or half written: install
  }
}

function isInStep() {
  const locked = packagesOf('package-lock.json');
  const installed = packagesOf('node_modules/.package-lock.json');
  if (!locked || !installed) return false;
  return Object.entries(locked).every(
    ([path, { version, optional }]) => path === '' || optional || installed[path]?.version === version,
  );
}

if (!isInStep()) {
  process.stderr.write('Installing what is missing (npm ci) ...\n');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: home,
    stdio: ['ignore', 2, 2],
  });
  process.exitCode = status ?? 1;
}
