/**
 * Runs first in every npm script, on any Node.js: installs missing locked packages, and a Node.js for this clone only,
 * if the PATH has none that is new enough. With --omit=dev it installs only the packages of the service (70 MB instead
 * of 575). The packages of src/fleet/packages/ are installed for a start with FLEET_URL, and for development. Bootstrap
 * is part of each script, because npm skips `pre` scripts with ignore-scripts=true. The next command uses `env node`,
 * because the shell remembers where it found the first `node`, while env searches again.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('../..', import.meta.url));
const omitsDev = process.argv.includes('--omit=dev');

/** @param {string} path */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(`${home}${path}`, 'utf8')).packages;
  } catch {
    return undefined; // missing or half written
  }
}

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

/**
 * Resolves with whether it succeeded.
 * @param {string} folder
 * @param {string[]} args
 */
function npm(folder, ...args) {
  const options = { cwd: `${home}${folder}`, stdio: ['ignore', 2, 2] };
  const child = spawn('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], options);
  return new Promise((resolve) => {
    child.on('error', (error) => {
      say(`npm cannot be started: ${error.message}`);
      resolve(false);
    });
    child.on('close', (status) => resolve(status === 0));
  });
}

// ---------------------------------------------------------------------------------------------------- packages

/** Exists while development packages are being added, and after an aborted installation. */
const adding = `${home}node_modules/.adding`;

async function installPackages() {
  const locked = packagesOf('package-lock.json') ?? {};
  const installed = packagesOf('node_modules/.package-lock.json');
  const missing = Object.entries(locked)
    .filter(([path, { version, optional }]) => path !== '' && !optional && installed?.[path]?.version !== version)
    .map(([, entry]) => entry);
  const isComplete = locked[''] && installed && missing.every(({ dev }) => dev);
  if (isComplete && (omitsDev || missing.length === 0)) return true;

  if (!isComplete || existsSync(adding)) {
    const options = omitsDev ? ['--omit=dev'] : ['--include=dev'];
    say(`Installing the locked packages (npm ci ${options}) ...`);
    return npm('', 'ci', ...options);
  }
  // npm ci would empty node_modules first, under a service that may be running from it.
  say('Adding the development packages (npm install --no-save) ...');
  writeFileSync(adding, '');
  const isAdded = await npm('', 'install', '--no-save', '--include=dev');
  if (isAdded) rmSync(adding);
  return isAdded;
}

// ----------------------------------------------------------------------------------------------------- Node.js

const { engines } = JSON.parse(readFileSync(`${home}package.json`, 'utf8'));

/** Compares major and minor with a range such as `>=22.21 <23 || >=24.9`. */
function isNewEnough() {
  /** @param {string} text */
  const numberOf = (text) => {
    const [major = 0, minor = 0] = text.match(/\d+/g).map(Number);
    return major * 1000 + minor;
  };
  const own = numberOf(process.versions.node);
  /** @param {string} bound */
  const holds = (bound) => (bound.startsWith('<') ? own < numberOf(bound) : own >= numberOf(bound));
  return engines.node.split('||').some((range) => range.trim().split(' ').every(holds));
}

/**
 * Uses the Node.js in scripts/node/ if this process runs on it or the one in the PATH is too old; otherwise the one in
 * the PATH.
 */
const usesOwn = process.execPath.startsWith(`${home}scripts/node/`) || !isNewEnough();

const name = `node-${process.platform}-${process.arch}`;
const path = `node_modules/${name}`;
const program = `${home}scripts/node/node_modules/.bin/node`;

async function installNode() {
  const locked = packagesOf('scripts/node/package-lock.json')?.[path];
  const installed = packagesOf('scripts/node/node_modules/.package-lock.json')?.[path];
  if (!locked) return refuse(`scripts/node/ has none for ${process.platform} on ${process.arch}`);
  if (installed?.version === locked.version && existsSync(program)) return true;

  say(`Installing Node.js ${locked.version} into scripts/node/ (npm ci) ...`);
  if (!(await npm('scripts/node', 'ci'))) return false;
  rmSync(`${home}scripts/node/${path}/include`, { recursive: true, force: true }); // 61 MB for compilers of add-ons
  if (!existsSync(program)) {
    // npm does not report an optional package whose download or integrity check fails.
    return refuse(`${name} could not be installed (npm ci --prefix scripts/node --loglevel=verbose shows why)`);
  }
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0) return true;
  rmSync(`${home}scripts/node/node_modules`, { recursive: true });
  return refuse(`${name} does not run here`); // for example, with musl instead of glibc
}

/** @param {string} reason */
function refuse(reason) {
  say(
    `Parlance needs Node.js ${engines.node}; this is ${process.versions.node}, and ${reason}: ` +
      'install Node.js (https://nodejs.org/en/download) and try again.',
  );
  return false;
}

/** npm scripts look for programs in node_modules/.bin first. */
function linkNode() {
  const link = `${home}node_modules/.bin/node`;
  const target = '../../scripts/node/node_modules/.bin/node';
  try {
    if (readlinkSync(link) === target) return;
  } catch {
    mkdirSync(`${home}node_modules/.bin`, { recursive: true });
  }
  // Replaced atomically, because another npm script may be looking for the link.
  const fresh = `${link}-${process.pid}`;
  symlinkSync(target, fresh);
  renameSync(fresh, link);
}

// ------------------------------------------------------------------------------------------------------- fleet

async function installFleet() {
  const locked = packagesOf('src/fleet/packages/package-lock.json') ?? {};
  const installed = packagesOf('src/fleet/packages/node_modules/.package-lock.json');
  const isMissing = ([path, { version, optional }]) =>
    path !== '' && !optional && installed?.[path]?.version !== version;
  if (!Object.entries(locked).some(isMissing)) return true;
  say('Installing the packages of the fleet (npm ci --prefix src/fleet/packages) ...');
  return npm('src/fleet/packages', 'ci', '--ignore-scripts');
}

const results = await Promise.all([
  installPackages(),
  usesOwn ? installNode() : true,
  process.env.FLEET_URL || !omitsDev ? installFleet() : true,
]);
if (!results.every(Boolean)) process.exitCode = 1;
else if (usesOwn) linkNode();
