#!/usr/bin/env node
// Stands for npm: writes down what an install would have installed. Each call adds a line to the file NPM_CALLS.
// NPM_FAULT is what goes wrong: `fails`, `skips` (the optional package of Node.js) or `alien` (which does not run).
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const { NPM_CALLS, NPM_FAULT } = process.env;
const [verb, ...options] = process.argv.slice(2);
const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
const folder = basename(process.cwd()) === 'node' ? ['node:'] : [];
appendFileSync(NPM_CALLS, `${[...folder, verb, ...options.filter((each) => !quietly.includes(each))].join(' ')}\n`);

if (verb === 'ci') rmSync('node_modules', { recursive: true, force: true });
if (NPM_FAULT === 'fails') process.exit(1);
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const installed = Object.entries(packages).filter(
  ([path, { dev, optional }]) =>
    path !== '' && !(dev && options.includes('--omit=dev')) && !(optional && NPM_FAULT === 'skips'),
);
mkdirSync('node_modules', { recursive: true });
for (const [path] of installed) mkdirSync(`${path}/include`, { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(installed) }));
if (folder.length > 0 && installed.length > 0) {
  const program = 'node_modules/.bin/node';
  mkdirSync('node_modules/.bin');
  if (NPM_FAULT !== 'alien') symlinkSync(process.execPath, program);
  else {
    writeFileSync(program, 'not a program');
    chmodSync(program, 0o755);
  }
}
