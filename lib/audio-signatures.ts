/** The first bytes of audio containers, read as Latin-1. */
export const audioSignatures = {
  // eslint-disable-next-line no-control-regex -- they are bytes
  webm: /^\x1a\x45\xdf\xa3/,
  /**
   * The first box of a file, with its length. A segment of a stream begins with a segment type box, and old QuickTime
   * files may begin with other boxes.
   */
  mp4: /^(.{4}(ftyp|styp|mdat)|\0.{3}(wide|free|skip|pnot|moov))/s,
  ogg: /^OggS/,
  /** RF64 (EBU Tech 3306) and BW64 (ITU-R BS.2088) are WAV with 64-bit lengths. */
  wav: /^(RIFF|RF64|BW64).{4}WAVE/s,
  flac: /^fLaC/,
  /** ADTS: the sync word, and layer 0 (ISO/IEC 13818-7, 6.2). */
  aac: /^\xff[\xf0\xf1\xf8\xf9]/,
} as const;
