/** The audio of a turn, starting with the recent audio, as a WAV file for the engines. */
import { randomUUID } from 'node:crypto';
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Recording } from '../../engines/contract/index.ts';
import { ignore } from '../../lib/errors.ts';
import { toFloats, toSamples16, viewSamples16 } from '../../lib/samples.ts';
import { sampleRate, samplesPerMs, wavHeader } from '../../lib/wav.ts';
import { RateConverter } from '../audio/resample.ts';
import type { AccountedDirectory } from '../system/workspace.ts';
import type { Frame } from './sound-input.ts';

type Sound = Pick<Frame, 'samples' | 'rate'>;

/** A recording with its own file. Disposal removes the file. */
export interface TurnFile extends AsyncDisposable {
  readonly recording: Recording;
}

const headerBytes = wavHeader(0).length;
/** One second. A write takes a thread of the pool, whatever its size. */
const pieceBytes = 2 * sampleRate;

export class TurnRecording {
  readonly #path: string;
  readonly #directory: AccountedDirectory;
  readonly #converter = new RateConverter(sampleRate);
  #file: FileHandle | undefined;
  #waiting: Sound[] = [];
  /** Samples that are not in the file yet. */
  #unwritten: Uint8Array[] = [];
  #taken = 0;
  /** Number of bytes of samples. */
  #bytes = 0;
  /** Number of those that are in the file. */
  #written = 0;
  /** The first failure, such as a full disk. After it, the recording accepts no more audio. */
  #failure: Error | undefined;

  constructor(directory: AccountedDirectory) {
    this.#directory = directory;
    this.#path = join(directory.path, `${randomUUID()}.wav`);
  }

  get ms(): number {
    return this.#bytes / 2 / samplesPerMs;
  }

  /** Adds audio, which the next `flush` takes. The sample rate may change. */
  push(sound: Sound): void {
    if (!this.#failure) this.#waiting.push(sound);
  }

  /** Writes the audio, once there is a second of it; the first time at once. Never rejects. */
  async flush(): Promise<void> {
    this.#convert();
    if (!this.#file || this.#bytes - this.#written >= pieceBytes) await this.#write();
  }

  /** Copies the audio so far. */
  async copy(): Promise<TurnFile> {
    this.#convert();
    await this.#write();
    const copy = new TurnRecording(this.#directory);
    const samples = viewSamples16((await readFile(this.#path)).subarray(headerBytes));
    copy.push({ samples, rate: sampleRate });
    return copy.finish();
  }

  /** Ends the recording. If it has failed, removes it and rejects. */
  async finish(): Promise<TurnFile> {
    this.#convert();
    this.#keep(this.#converter.flush());
    await this.#write();
    try {
      if (this.#failure) throw this.#failure;
      await this.#file?.write(wavHeader(this.#bytes), 0, headerBytes, 0);
      await this.#file?.close();
    } catch (error) {
      await this.discard();
      throw error;
    }
    const slice = { startMs: 0, endMs: Math.ceil(this.ms) };
    const file = { path: this.#path, bytes: headerBytes + this.#bytes, slice };
    return {
      recording: { ...file, container: 'wav', mediaType: 'audio/wav' },
      [Symbol.asyncDispose]: () => this.discard(),
    };
  }

  /** Never rejects. */
  async discard(): Promise<void> {
    this.#failure ??= new Error('the recording has been removed');
    this.#waiting = [];
    this.#unwritten = [];
    await this.#file?.close().catch(ignore);
    await rm(this.#path, { force: true }).catch(ignore); // the directory is removed together with the session
    this.#directory.account.release(this.#taken);
    this.#taken = 0;
  }

  /** Converts what waits, because it may be a view of a whole message. */
  #convert(): void {
    for (const { samples, rate } of this.#waiting.splice(0)) this.#keep(this.#converter.push(toFloats(samples), rate));
  }

  #keep(blocks: readonly Float32Array[]): void {
    for (const block of blocks) {
      const data = new Uint8Array(toSamples16(block).buffer);
      this.#unwritten.push(data);
      this.#bytes += data.length;
    }
  }

  async #write(): Promise<void> {
    const data = Buffer.concat(this.#unwritten.splice(0));
    if (this.#failure || data.length === 0) return;
    try {
      const size = data.length + (this.#file ? 0 : headerBytes);
      this.#directory.account.take(size);
      this.#taken += size;
      this.#file ??= await open(this.#path, 'wx');
      await this.#file.write(data, 0, data.length, headerBytes + this.#written);
      this.#written += data.length;
    } catch (error) {
      this.#failure = error as Error;
    }
  }
}

/** The most recent audio of a session, which is kept because a turn begins before it is recognized as one. */
export class RecentSound {
  #frames: (Sound & { readonly endMs: number })[] = [];

  /** Keeps the last `keptMs` milliseconds, as long as the rate stays the same. */
  push({ samples, rate }: Sound, endMs: number, keptMs: number): void {
    if (this.#frames[0] && this.#frames[0].rate !== rate) this.#frames = [];
    let oldest: Sound | undefined;
    while ((this.#frames[0]?.endMs ?? endMs) <= endMs - keptMs) oldest = this.#frames.shift();
    // A view would keep the whole message in memory, and a new array per frame would cause most of the garbage
    // collector's work.
    const copy = oldest?.samples.length === samples.length ? oldest.samples : new Int16Array(samples.length);
    copy.set(samples);
    this.#frames.push({ samples: copy, rate, endMs });
  }

  since(ms: number): Sound[] {
    const frames = this.#frames.filter(({ endMs }) => endMs > ms);
    return frames.map(({ samples, rate }) => ({ samples: samples.slice(), rate }));
  }
}
