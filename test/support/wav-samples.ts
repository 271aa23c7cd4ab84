/** The bytes of the samples in a WAV file of the service, which has a header of 44 bytes and may have a chunk after them. */
export function wavSamples(wav: Buffer): Buffer {
  return wav.subarray(44, 44 + wav.readUInt32LE(40));
}
