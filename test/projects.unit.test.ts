/** What the suffix of a test file promises, where nothing else refuses it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a *.process.test.ts measures neither time nor memory: the file beside it may have the processor', () => {
  const files = globSync('**/*.process.test.ts', { cwd: import.meta.dirname });
  expect(files.length).toBeGreaterThan(10);
  const meters = /support\/stopwatch\.ts|performance\.now\(|memoryUsage|cpuUsage|\.memory\(\)/;
  const measuring = files.filter((file) => meters.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
  expect(measuring).toEqual([]);
});
