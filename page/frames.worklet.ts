/** Sends the microphone's sound to the page in frames of 20 ms. Runs on the audio thread, even in a hidden tab. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

class Frames extends AudioWorkletProcessor {
  #frame = new Float32Array(Math.round(sampleRate / 50));
  #filled = 0;

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    for (const sample of input?.[0] ?? []) {
      this.#frame[this.#filled++] = sample;
      if (this.#filled < this.#frame.length) continue;
      this.port.postMessage(this.#frame, [this.#frame.buffer]);
      this.#frame = new Float32Array(Math.round(sampleRate / 50));
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor('frames', Frames);
