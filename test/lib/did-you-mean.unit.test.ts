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

it('nothing is like a name of 2 MB, and the search does not take its time', () => {
  expect(didYouMean('model'.repeat(400_000), known)).toBeUndefined();
});
