import { expect, it } from 'vitest';
import { isPackageName } from '../../src/bin/package-name.ts';

it.each(['a', 'my-engine', 'engine-2', 'a'.repeat(64), 'constructor'])('a name: %j', (name) => {
  expect(isPackageName(name)).toBe(true);
});

it.each([
  ...['', '.', '..', '../out', '/tmp/out', 'a/b', 'a\\b', '@scope/name', 'My-Engine', 'a_b', 'a.b', '2a'],
  ...['-a', 'a-', 'a--b', 'fs', 'node:fs', '__proto__', 'a\x1b[2J', 'a\n', 'ä', 'a'.repeat(65)],
])('no name: %j', (name) => {
  expect(isPackageName(name)).toBe(false);
});
