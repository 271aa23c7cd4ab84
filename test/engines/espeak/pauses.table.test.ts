/** The rows of pauses.ts that a push leaves out: with the program, and one of each voice with the package, which is slower. */
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { describeWith } from '../../support/programs.ts';
import { pauses, pausesOfPackage, skipsNothing } from './pauses.ts';
import { openEspeak, type Espeak, type Synthesizer } from './support.ts';

// The package takes about a second for each of many texts when other processes use the CPU too.
vi.setConfig({ testTimeout: 90_000 });

function speaks(synthesizer: Synthesizer): void {
  let espeak: Espeak;
  beforeAll(async () => {
    espeak = await openEspeak(synthesizer);
  });
  afterAll(() => espeak.service[Symbol.asyncDispose]());
  const ofPackage = pauses.quarter.filter((row) => !pausesOfPackage.includes(row));
  skipsNothing(() => espeak, synthesizer === 'package' ? ofPackage : pauses.rest);
}

describeWith(['espeak-ng'], 'espeak-ng, the program', () => speaks('program'));
describe('espeak-ng, the package', () => speaks('package'));
