/** Reads a text aloud while it is written: the clip of each piece is created while the piece before it plays. */
import { createSpokenPieces } from '../lib/spoken-markdown.ts';
import { createClip } from './clips.ts';
import { failureOf } from './failure.ts';
import { askIfRefused } from './key.ts';
import { chosen } from './listings.ts';
import { enqueue, reading, speakerFailure, stopPlayback, untilStopped } from './playback.ts';
import { clipUrl } from './service.ts';

type Speaker = Pick<(typeof chosen)['value'], 'speech' | 'voice'>;

export class Reading {
  readonly #id: string;
  readonly #voice: ReturnType<typeof voiceOf>;
  readonly #pieces = createSpokenPieces();
  readonly #over = new AbortController();
  #waiting: string[] = [];
  #hasBegun = false;
  #isSpeaking = false;

  /** `id` identifies the button of the reading, which the next `stopPlayback` ends. */
  constructor(id: string, speaker: Speaker = chosen.value) {
    this.#id = id;
    this.#voice = voiceOf(speaker);
    speakerFailure.value = undefined;
    untilStopped().addEventListener('abort', () => this.#over.abort());
  }

  /** Whether the user hears the text. False if there is nothing to say, and after the reading was stopped or has failed. */
  get isHeard(): boolean {
    return this.#hasBegun && !this.#over.signal.aborted;
  }

  write(markdown: string): void {
    if (!this.#over.signal.aborted) this.#add(this.#pieces.write(markdown));
  }

  /** Marks the text so far as complete, such as at the end of a step. More text may follow. */
  flush(): void {
    this.#add(this.#pieces.flush());
  }

  /** Plays the clips that have already been created, and creates no more. */
  breakOff(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    reading.value = undefined;
  }

  #add(pieces: readonly string[]): void {
    this.#waiting.push(...pieces);
    if (this.#waiting.length > 0) void this.#speak();
  }

  async #speak(): Promise<void> {
    if (this.#isSpeaking) return;
    this.#isSpeaking = true;
    try {
      for (let text = this.#next(); text !== undefined; text = this.#next()) await this.#say(text);
      if (!this.#over.signal.aborted) reading.value = undefined;
    } catch (error) {
      this.breakOff();
      askIfRefused(error);
      speakerFailure.value = failureOf(error);
    }
    this.#isSpeaking = false;
  }

  #next(): string | undefined {
    return this.#over.signal.aborted ? undefined : this.#waiting.shift();
  }

  /** Resolves when the piece begins to play, or when the reading is over. */
  async #say(text: string): Promise<void> {
    this.#hasBegun = true;
    reading.value = this.#id;
    const ownClip = await createClip({ text, ...this.#voice }, this.#over.signal);
    if (ownClip !== undefined) await enqueue({ id: this.#id, url: clipUrl(ownClip), ownClip, text });
  }
}

function voiceOf({ speech, voice }: Speaker) {
  return { ...(speech && { model: speech.id }), ...(voice !== undefined && { voice_id: voice }) };
}

/** Reads a text that is complete, instead of what is playing. */
export function readAloud(id: string, markdown: string, speaker?: Speaker): void {
  stopPlayback();
  const text = new Reading(id, speaker);
  text.write(markdown);
  text.flush();
  if (!text.isHeard) speakerFailure.value = { text: 'There is nothing to read aloud but code, images or symbols.' };
}
