/** The sound of a turn, as a WAV file for the engines. */
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import type { Recording } from '../../engines/contract/index.ts';
import { ignore } from '../../lib/errors.ts';
import { toSamples16 } from '../../lib/samples.ts';
import { sampleRate, samplesPerMs, wavHeader } from '../../lib/wav.ts';
import { Resampler } from '../audio/resample.ts';
import type { SharedAccount } from '../system/disk-budget.ts';
import { rateOf, samplesOf, type SoundFormat } from './frames.ts';

/** A recording, whose file has nothing else in it. Disposal removes the file. */
export interface TurnFile extends AsyncDisposable {
  readonly recording: Recording;
}

export class TurnRecording {
  readonly #path: string;
  readonly #account: SharedAccount;
  #format: SoundFormat;
  #resampler: Resampler | undefined;
  #file: FileHandle | undefined;
  #waiting: Uint8Array[] = [];
  #taken = 0;
  /** Bytes of samples in the file. */
  #bytes = 0;
  /** The first failure, such as a full disk: the recording takes no more sound. */
  #failure: Error | undefined;

  constructor(path: string, format: SoundFormat, account: SharedAccount) {
    this.#path = path;
    this.#account = account;
    this.#format = format;
    this.#resampler = resamplerOf(format);
  }

  get ms(): number {
    return this.#bytes / 2 / samplesPerMs;
  }

  /** The next `flush` writes the bytes. */
  push(bytes: Uint8Array): void {
    if (!this.#failure) this.#waiting.push(bytes);
  }

  /** Never rejects. */
  async flush(): Promise<void> {
    const samples = samplesOf(Buffer.concat(this.#waiting.splice(0)), this.#format);
    await this.#write(this.#resampler?.push(samples) ?? samples);
  }

  /** The sound that follows has this format. */
  async change(format: SoundFormat): Promise<void> {
    await this.#end();
    this.#format = format;
    this.#resampler = resamplerOf(format);
  }

  /** Copies the sound so far. */
  async copy(path: string): Promise<TurnFile> {
    await this.flush();
    const copy = new TurnRecording(path, { encoding: 'pcm', rate: sampleRate }, this.#account);
    copy.push((await readFile(this.#path)).subarray(headerBytes));
    return copy.finish();
  }

  /** Ends the recording. Rejects if it has failed, after removing it. */
  async finish(): Promise<TurnFile> {
    await this.#end();
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
    await this.#file?.close().catch(ignore);
    await rm(this.#path, { force: true }).catch(ignore); // the directory is removed with the session
    this.#account.release(this.#taken);
    this.#taken = 0;
  }

  async #end(): Promise<void> {
    await this.flush();
    if (this.#resampler) await this.#write(this.#resampler.flush());
  }

  async #write(samples: Float32Array): Promise<void> {
    if (this.#failure || samples.length === 0) return;
    try {
      const data = new Uint8Array(toSamples16(samples).buffer);
      const size = data.length + (this.#file ? 0 : headerBytes);
      this.#account.take(size);
      this.#taken += size;
      this.#file ??= await open(this.#path, 'wx');
      await this.#file.write(data, 0, data.length, headerBytes + this.#bytes);
      this.#bytes += data.length;
    } catch (error) {
      this.#failure = error as Error;
    }
  }
}

const headerBytes = wavHeader(0).length;

const resamplerOf = (format: SoundFormat): Resampler | undefined =>
  rateOf(format) === sampleRate ? undefined : new Resampler(rateOf(format), sampleRate);
