/** WAV files of mono 16-bit PCM: what every recording is decoded to, and speech. */

/** Hz; what speech recognition listens at. */
export const sampleRate = 16_000;

const headerBytes = 44;

/** The header (44 bytes) of a WAV file of mono s16 whose samples take `dataBytes` bytes; `rate` is in Hz. */
export function wavHeader(dataBytes: number, rate = sampleRate): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(headerBytes - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16); // length of the format that follows
  header.writeUInt16LE(1, 20); // integer PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28); // bytes a second
  header.writeUInt16LE(2, 32); // bytes a sample
  header.writeUInt16LE(16, 34); // bits a sample
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
