/**
 * Transcribes while somebody speaks, over `GET /v1/realtime` of the service: the words of each phrase arrive at its
 * pause. Anything unexpected ends the session silently, and the whole recording is uploaded instead.
 */
import { computed, signal } from '@preact/signals';
import { joinTexts } from '../lib/join-texts.ts';
import { key } from './key.ts';
import { recordingFields } from './listings.ts';
import { applyLiveEvent, isComplete, newLiveTranscript } from './live-transcript.ts';
import { realtimeUrl } from './service.ts';

const current = signal<LiveDictation | undefined>(undefined);

/** The words so far. */
export const liveText = computed(() => current.value?.text.value ?? '');

const openMs = 5_000;
/** Timeout in milliseconds, from the end of the recording. */
const answerMs = 60_000;
/** Maximum number of bytes waiting to be sent: beyond it, the network is slower than the speech. */
const mostBuffered = 2_097_152;
/** Maximum sample rate of the service, in Hz. */
const highestRate = 48_000;

/**
 * No session is opened for this long after a socket has failed, because the browser logs each failure to its console.
 * The key may not permit live transcription, or the service may have been restarted.
 */
const pauseMs = 300_000;
/** The time at which a socket last failed, by key. */
const failedAt = new Map<string | undefined, number>();

export class LiveDictation {
  readonly text = signal('');
  readonly #socket: WebSocket;
  readonly #end = Promise.withResolvers<string | undefined>();
  #transcript = newLiveTranscript;
  /** Frames from before the session; undefined once it has begun. */
  #waiting: Float32Array[] | undefined = [];
  #timer = setTimeout(() => this.close(), openMs);

  /** Returns undefined if there is no live transcription. */
  static open(): LiveDictation | undefined {
    const { task } = recordingFields.value;
    if (task !== undefined) return undefined; // a session does not translate
    if (Date.now() - (failedAt.get(key.value) ?? -Infinity) < pauseMs) return undefined;
    try {
      return (current.value = new LiveDictation(key.value));
    } catch {
      return undefined; // a key with characters that a subprotocol may not have
    }
  }

  private constructor(secret: string | undefined) {
    const keys = secret === undefined ? [] : [`openai-insecure-api-key.${secret}`];
    try {
      this.#socket = new WebSocket(realtimeUrl, ['realtime', ...keys]);
    } catch (error) {
      clearTimeout(this.#timer);
      throw error;
    }
    this.#socket.onmessage = ({ data }) => this.#receive(data);
    this.#socket.onclose = () => {
      if (!this.#transcript.isOpen) failedAt.set(secret, Date.now());
      this.close();
    };
  }

  push(frame: Float32Array, rate: number): void {
    if (rate > highestRate || this.#socket.bufferedAmount > mostBuffered) return this.close();
    if (!this.#waiting) return this.#append(frame);
    this.#waiting.push(frame);
    if (this.#transcript.isOpen) this.#begin(this.#waiting, rate);
  }

  /** Resolves with the words once the last ones have arrived; undefined if the recording has to be uploaded. */
  async finish(signal: AbortSignal): Promise<string | undefined> {
    const close = () => this.close();
    signal.addEventListener('abort', close);
    if (this.#waiting) close(); // a session that has not begun would be too late
    this.#send({ type: 'input_audio_buffer.commit' });
    this.#send({ type: 'session.update', session: { type: 'transcription' } }); // answered after the commit
    clearTimeout(this.#timer);
    this.#timer = setTimeout(close, answerMs);
    const text = await this.#end.promise;
    signal.removeEventListener('abort', close);
    close();
    signal.throwIfAborted();
    return text === '' ? undefined : text; // the voice may be too quiet for a turn
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#end.resolve(undefined);
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    if (current.peek() === this) current.value = undefined;
  }

  #receive(data: unknown): void {
    const transcript = applyLiveEvent(this.#transcript, data);
    if (!transcript) return this.close();
    this.#transcript = transcript;
    this.text.value = joinTexts([...transcript.texts.values()]);
    if (isComplete(transcript)) this.#end.resolve(this.text.value);
  }

  #begin(waiting: readonly Float32Array[], rate: number): void {
    clearTimeout(this.#timer);
    this.#waiting = undefined;
    const input = { format: { type: 'audio/pcm', rate }, transcription: recordingFields.value };
    this.#send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    for (const frame of waiting) this.#append(frame);
  }

  #append(frame: Float32Array): void {
    this.#send({ type: 'input_audio_buffer.append', audio: toPcm(frame) });
  }

  #send(event: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(event));
  }
}

/** Returns 16-bit samples in Base64, little-endian like every machine with a browser. */
function toPcm(frame: Float32Array): string {
  const samples = Int16Array.from(frame, (sample) => Math.max(-1, Math.min(1, sample)) * 0x7fff);
  return btoa(String.fromCharCode(...new Uint8Array(samples.buffer)));
}
