import { DamagedRecording } from '../../lib/recording/damage.ts';
import { sectionsOf as find } from '../../lib/recording/sections.ts';
import { undecodable } from './failures.ts';

/** Returns the recordings in a file. Throws `recording-undecodable` if the file is damaged before its end. */
export const sectionsOf: typeof find = (...file) => {
  try {
    return find(...file);
  } catch (error) {
    if (error instanceof DamagedRecording) throw undecodable(error.message, error);
    throw error;
  }
};
