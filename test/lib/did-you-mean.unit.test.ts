import { expect, it } from 'vitest';
import { didYouMean } from '../../lib/did-you-mean.ts';

const known = ['host', 'port', 'transcribeModel', 'transcribeTimeout', 'command', 'url', 'models', 'whisper-cli'];

it.each([
  ['prot', 'port'],
  ['TRANSCRIBE_MODEL', 'transcribeModel'],
  ['transcribeModle', 'transcribeModel'],
  ['cmd', 'command'],
  ['model', 'models'],
  ['wisper-cli', 'whisper-cli'],
  ['whisper', 'whisper-cli'],
  ['URL', 'url'],
  ['x', undefined],
  ['volume', undefined],
  ['', undefined],
])('%j: %j', (wrong, meant) => {
  expect(didYouMean(wrong, known)).toBe(meant);
});
