/** The rows of pauses.ts that a push leaves out, with the program and with the package. */
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { describeWith } from '../../support/programs.ts';
import { pauses, skipsNothing } from './pauses.ts';
import { openEspeak, type Espeak, type Synthesizer } from './support.ts';

// The package takes about a second for each of many texts when other processes use the CPU too.
vi.setConfig({ testTimeout: 90_000 });

function speaks(synthesizer: Synthesizer): void {
  let espeak: Espeak;
  beforeAll(async () => {
    espeak = await openEspeak(synthesizer);
  });
  afterAll(() => espeak.service[Symbol.asyncDispose]());
  skipsNothing(() => espeak, pauses.rest);
}

describeWith(['espeak-ng'], 'espeak-ng, the program', () => speaks('program'));
describe('espeak-ng, the package', () => speaks('package'));
