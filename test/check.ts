/** `npm run check`: everything but the tests. Runs all of it, then fails when a part did. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

const checks: readonly (readonly [what: string, ...command: string[]])[] = [
  ['generated files and reference pages are up to date', process.execPath, 'spec/generate.ts', '--check'],
  ['the contract is valid OpenAPI', 'redocly', 'lint', '--config', 'spec/redocly.yaml', 'generated/openapi.json'],
  ['so is the OpenAI one', 'redocly', 'lint', '--config', 'spec/redocly.yaml', 'generated/openapi-compat.json'],
  ['types', process.execPath, 'node_modules/@typescript/native/bin/tsc', '-p', '.'],
  ['types of the page', process.execPath, 'node_modules/@typescript/native/bin/tsc', '-p', 'page'],
  ['lint', 'eslint', '.'],
  ['format', 'prettier', '--check', '--log-level', 'warn', '.'],
  ['format of the spec', 'tsp', 'format', '--check', 'spec/**/*.tsp'],
  ['import rules', 'vitest', 'run', 'test/house.unit.test.ts', '--reporter', 'dot'],
  ['the workflows are valid Arazzo', 'redocly', 'lint', '--config', 'spec/redocly.yaml', 'spec/parlance.arazzo.yaml'],
  ['breaks of the contract are announced', process.execPath, 'test/contract/check-breaking.ts'],
];

/** What a check has found is worth a line even when it is well. */
const telling = 'test/contract/check-breaking.ts';

const failed: string[] = [];
for (const [what, program = '', ...args] of checks) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: home,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
    timeout: 600_000,
  });
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${what}`);
  if (status === 0 && args.includes(telling)) console.log(`       ${stdout.trim()}`);
  if (status === 0) continue;
  console.log(stdout, stderr);
  failed.push(what);
}
if (failed.length > 0) process.exitCode = 1;
