/** Audio in the events of a client. */
import { invalid } from '../../contract/problems.ts';

/** Throws `invalid-request` if the value of the field is not base64, or is a WAV file. */
export function readSound(audio: unknown, pointer: string): Uint8Array {
  const notBase64 = () => invalid('body', pointer, 'must be base64');
  if (typeof audio !== 'string' || audio.includes('-') || audio.includes('_')) throw notBase64();
  const sound = Buffer.from(audio, 'base64');
  // Node.js's decoder skips characters that are not base64. Re-encoding the bytes to check would take three times as
  // long.
  const digits = audio.length - (/={0,2}$/.exec(audio.slice(-2))?.[0].length ?? 0);
  if (digits % 4 === 1 || sound.length !== Math.floor((digits * 3) / 4)) throw notBase64();
  if (sound.toString('latin1', 0, 4) !== 'RIFF') return sound;
  throw invalid('body', pointer, 'must be samples, without the header of a WAV file');
}
