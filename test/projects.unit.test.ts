/** What the suffix of a test file promises, where nothing else refuses it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const filesWith = (suffix: string, pattern: RegExp) =>
  globSync(`**/*.${suffix}.test.ts`, { cwd: import.meta.dirname }).filter((file) =>
    pattern.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );

it('a *.process.test.ts measures neither time nor memory: the file beside it may have the processor', () => {
  expect(filesWith('process', /./).length).toBeGreaterThan(10);
  const meters = /support\/stopwatch\.ts|performance\.now\(|memoryUsage|cpuUsage|\.memory\(\)/;
  expect(filesWith('process', meters)).toEqual([]);
});

it('no test draws random numbers of its own: each run is the same, but for `npm run test:random`', () => {
  const files = globSync('**/*.ts', {
    cwd: import.meta.dirname,
    exclude: ['random.ts', 'support/fast-check.ts', 'programs/node_modules/**'],
  });
  const draws = /from 'fast-check'|Math\.random\(|\brandom(Bytes|Int|Fill\w*)\b|getRandomValues/;
  const drawing = files.filter((file) => draws.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
  expect(drawing).toEqual(['projects.unit.test.ts']);
});

/** The projects unit and service, whose files share what is loaded: test files, and the helpers that they import. */
const shared = globSync('**/*.ts', {
  cwd: import.meta.dirname,
  exclude: ['**/*.{isolated,process,system,install,table,deploy}.test.ts', 'programs/node_modules/**'],
}).map((file) => [file, readFileSync(join(import.meta.dirname, file), 'utf8')] as const);

it('a test file that shares its modules with others mocks none, and changes no environment: that is for *.isolated.test.ts', () => {
  expect(shared.length).toBeGreaterThan(200);
  const changes =
    /\bvi\.(do)?(un)?mock\(|\bvi\.(resetModules|stubEnv)\(|process\.chdir\(|process\.env(\.\w+|\[[^\]]+\]) = |delete process\.env/i;
  const global = /(^|[-/])(global-setup|run-directories)\.ts$|^projects\.unit/; // in the process that starts the tests
  const changing = shared.filter(([file, text]) => changes.test(text) && !global.test(file));
  expect(changing.map(([file]) => file)).toEqual([]);
});
