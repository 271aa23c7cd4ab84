/** Frame headers of MPEG audio layer III (ISO/IEC 11172-3, 2.4.2.3; 13818-3). */

export interface Mp3Frame {
  /** Bytes of the frame, including the header. */
  readonly bytes: number;
  readonly samples: number;
  /** Hz. */
  readonly sampleRate: number;
  readonly isMono: boolean;
}

/** Bit rates in kbit/s by index; index 0 is "free", which speech encoders do not use. */
const mpeg1BitRates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const;
/** Bit rates for MPEG 2 and 2.5. */
const mpeg2BitRates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;
const sampleRates = [44_100, 48_000, 32_000] as const;
/** Divisors of the sample rate, indexed by the two version bits: MPEG 2.5, reserved, MPEG 2, MPEG 1. */
const divisors = [4, undefined, 2, 1] as const;

/**
 * `head` is the first four bytes, big-endian. Returns undefined if they are not a frame header, or if its bit rate is
 * "free".
 */
export function readMp3Frame(head: number): Mp3Frame | undefined {
  if (head >>> 21 !== 0x7ff || ((head >>> 17) & 3) !== 1) return undefined;
  const divisor = divisors[(head >>> 19) & 3];
  const baseRate = sampleRates[(head >>> 10) & 3];
  const kilobits = (divisor === 1 ? mpeg1BitRates : mpeg2BitRates)[(head >>> 12) & 15];
  if (divisor === undefined || baseRate === undefined || !kilobits) return undefined;
  const [sampleRate, samples] = [baseRate / divisor, divisor === 1 ? 1152 : 576];
  return {
    bytes: Math.floor((samples * 125 * kilobits) / sampleRate) + ((head >>> 9) & 1),
    samples,
    sampleRate,
    isMono: ((head >>> 6) & 3) === 3,
  };
}

/** A header within other data may be accidental: frames of a stream have the same sample rate and number of channels. */
export function haveSameFormat(a: Mp3Frame, b: Mp3Frame): boolean {
  return a.sampleRate === b.sampleRate && a.isMono === b.isMono;
}
