/** The file of a decoded recording while it is written: 16 kHz mono s16. */
import { open, rm, type FileHandle } from 'node:fs/promises';
import type { Decoded } from '../../engines/contract/index.ts';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { tooLong, type DecodeJob, type DecodeOptions } from './job.ts';

const bytesPerSecond = sampleRate * 2;

/** Creates the file, and removes it when `fill` fails. */
export async function createWav<T>(wavPath: string, fill: (wav: FileHandle) => Promise<T>): Promise<T> {
  await using wav = await open(wavPath, 'wx', 0o600);
  try {
    return await fill(wav);
  } catch (error) {
    await rm(wavPath, { force: true });
    throw error;
  }
}

interface Writing extends Pick<DecodeJob, 'maxSeconds'>, Pick<DecodeOptions, 'account'> {
  /** Ends the source of samples that are more than allowed. */
  readonly stop?: () => void;
}

/** Writes the header and the samples, until these exceed the maximum duration; returns their number of bytes. */
export async function writeSamples(
  samples: AsyncIterable<Buffer>,
  wav: FileHandle,
  { maxSeconds, account, stop }: Writing,
): Promise<number> {
  let bytes = 0;
  await wav.write(wavHeader(0));
  for await (const chunk of samples) {
    account?.take(chunk.length);
    await wav.writeFile(chunk); // not `write`: on a full disk it may write only a part without an error
    bytes += chunk.length;
    if (bytes > maxSeconds * bytesPerSecond) {
      stop?.();
      break;
    }
  }
  await wav.write(wavHeader(bytes), 0, undefined, 0);
  return bytes;
}

/** Throws `recording-too-long`. */
export function decodedOf(bytes: number, { wavPath, maxSeconds }: Pick<DecodeJob, 'wavPath' | 'maxSeconds'>): Decoded {
  if (bytes > maxSeconds * bytesPerSecond) throw tooLong(maxSeconds);
  return { wavPath, startMs: 0, endMs: Math.ceil((bytes / bytesPerSecond) * 1000) };
}
