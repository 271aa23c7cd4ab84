import { setImmediate } from 'node:timers/promises';
import { DamagedRecording } from '../../../lib/recording/damage.ts';
import { withFile } from '../../../lib/recording/file-bytes.ts';
import { mp3Frames } from '../../../lib/recording/mp3-frames.ts';
import { undecodable } from '../failures.ts';

/** Reading this many frames takes less than a millisecond. */
const framesAtATime = 1_000;

/**
 * ffmpeg skips any bytes between the frames of an MP3 file, sometimes silently. Throws `recording-undecodable` if these
 * bytes are more than a truncated frame or a tag.
 */
export async function checkMp3(path: string, signal: AbortSignal): Promise<void> {
  let frames = 0;
  try {
    for (const _frame of withFile(path, mp3Frames)) {
      if (++frames % framesAtATime > 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
  } catch (error) {
    throw error instanceof DamagedRecording ? undecodable(error.message, error) : error;
  }
}
