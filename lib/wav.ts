/** WAV files of mono 16-bit PCM, used for decoded recordings and for speech. */

/** Sample rate in Hz that speech recognition expects. */
export const sampleRate = 16_000;

const headerBytes = 44;

/** The 44-byte header of a mono s16 WAV file with `dataBytes` bytes of samples; `rate` is in Hz. */
export function wavHeader(dataBytes: number, rate = sampleRate): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(headerBytes - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16); // length of the format chunk
  header.writeUInt16LE(1, 20); // integer PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28); // bytes per second
  header.writeUInt16LE(2, 32); // bytes per sample
  header.writeUInt16LE(16, 34); // bits per sample
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
