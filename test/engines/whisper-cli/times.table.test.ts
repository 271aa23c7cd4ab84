/** The tests of times.ts that a push leaves out. */
import { describe } from 'vitest';
import { describeWith } from '../../support/programs.ts';
import { survivesLongPrompts, takesHints, toneModels, ways, writeRecordings } from './times.ts';

describeWith(['whisper-cli', 'whisper-host'], 'whisper.cpp', ({ 'whisper-cli': program }) => {
  const models = toneModels();
  writeRecordings(models);

  describe('whisper-cli', () => takesHints({ program, models, options: ways['whisper-cli'] }));

  describe.each(Object.entries(ways))('%s', (_way, options) => survivesLongPrompts({ program, models, options }));
});
