/** `npm run check`: everything but the tests. Runs all of it, then fails when a part did. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

const checks: readonly (readonly [what: string, ...command: string[]])[] = [
  ['generated files and reference pages are up to date', process.execPath, 'scripts/generate/index.ts', '--check'],
  ['the contract is valid OpenAPI', 'redocly', 'lint', '--config', 'spec/redocly.yaml', 'generated/openapi.json'],
  ['so is the OpenAI one', 'redocly', 'lint', '--config', 'spec/redocly.yaml', 'generated/openapi-compat.json'],
  [
    'so are the events of the OpenAI one as AsyncAPI',
    'redocly',
    'lint',
    '--config',
    'spec/redocly.yaml',
    'generated/asyncapi-compat.json',
  ],
  ['types', process.execPath, 'node_modules/@typescript/native/bin/tsc', '-p', '.'],
  [
    'types that the package exports',
    process.execPath,
    'node_modules/@typescript/native/bin/tsc',
    '-p',
    'tsconfig.build.json',
    '--noEmit',
  ],
  ['types of the page', process.execPath, 'node_modules/@typescript/native/bin/tsc', '-p', 'page'],
  [
    'types of the example for browsers',
    process.execPath,
    'node_modules/@typescript/native/bin/tsc',
    '-p',
    'examples/browser',
  ],
  ['lint', 'eslint', '.'],
  ['format', 'prettier', '--check', '--log-level', 'warn', '.'],
  ['format of the spec', 'tsp', 'format', '--check', 'spec/**/*.tsp'],
  ['import rules', 'vitest', 'run', 'test/house.unit.test.ts', '--reporter', 'dot'],
  ['the workflows are valid Arazzo', 'redocly', 'lint', '--config', 'spec/redocly.yaml', 'spec/parlance.arazzo.yaml'],
  ['breaks of the documents and types are intended', process.execPath, 'test/contract/check-breaking.ts'],
];

/** What a check has found is worth a line even when it is well. */
const telling = 'test/contract/check-breaking.ts';

/** Half of them have one thread: two at a time use both processors of CI. */
const atOnce = 2;

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(program: string, args: readonly string[]): Promise<Outcome> {
  const child = spawn(program, args, {
    cwd: home,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 1_800_000, // beside tests, the linter has taken ten minutes
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

const waiting = checks.values();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const [what, program = '', ...args] of waiting) {
      const { status, stdout, stderr } = await run(program, args);
      console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${what}`);
      if (status === 0 && args.includes(telling)) console.log(`       ${stdout.trim()}`);
      if (status === 0) continue;
      console.log(stdout, stderr);
      process.exitCode = 1;
    }
  }),
);
