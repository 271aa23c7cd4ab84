import { afterEach, expect, it } from 'vitest';
import { installCommand, newKeyCommand } from '../../lib/setup-command.ts';

const { platform } = process;
afterEach(() => Object.defineProperty(process, 'platform', { value: platform }));

it.each([
  ['linux', 'apt-get install cmake g++ npm'],
  ['darwin', 'brew install cmake gcc node'],
])('on %s, missing programs are installed with a command that exists there', (system, command) => {
  Object.defineProperty(process, 'platform', { value: system });
  expect(installCommand('cmake', 'g++', 'npm')).toBe(command);
});

it('in a clone, a key is created with an npm script', () => {
  expect(newKeyCommand).toBe('npm run key -- new NAME');
});
