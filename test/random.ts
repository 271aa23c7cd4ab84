/**
 * `npm run test:random`: the tests that draw their cases, with another seed than the fixed one of `npm test`. The first
 * line of the output names it; `npm run test:random -- SEED` repeats a run.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

const [seed = String(randomInt(2 ** 31))] = process.argv.slice(2);
const draws = /\/support\/fast-check\.ts'|FUZZ_SEED/;
const files = globSync('test/**/*.test.ts').filter((file) => draws.test(readFileSync(file, 'utf8')));
console.log(`Seed ${seed} (again: npm run test:random -- ${seed})`);
const env = { ...process.env, PROPERTY_SEED: seed, FUZZ_SEED: seed };
const { status } = spawnSync('vitest', ['run', '--reporter', 'dot', ...files], { stdio: 'inherit', env });
process.exitCode = status ?? 1;
