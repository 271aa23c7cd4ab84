/** Loads sherpa-onnx; only separate processes do this. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The part of sherpa-onnx-node that is used here. */
export interface Library {
  readonly version: string;
  readonly OfflineTts: new (config: object) => {
    generate(request: object): unknown;
    generateAsync(request: object): Promise<{ readonly samples: Float32Array }>;
  };
  readonly OfflineRecognizer: new (config: object) => {
    createStream(): { acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void };
    decodeAsync(stream: object): Promise<Recognized>;
    /** Decodings that are in progress also use the new configuration. */
    setConfig(config: object): void;
  };
  readonly OfflineSpeakerDiarization: new (config: object) => { readonly handle: unknown };
  readonly SpeakerEmbeddingExtractor: new (config: object) => {
    createStream(): {
      acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void;
      inputFinished(): void;
    };
    isReady(stream: object): boolean;
    compute(stream: object, enableExternalBuffer: boolean): Float32Array;
  };
  readonly Vad: new (config: object, bufferSeconds: number) => VoiceActivityDetector;
}

export interface Recognized {
  readonly text: string;
  /** Such as `<|en|>`; "" if the model does not report it. */
  readonly lang: string;
  readonly tokens: readonly string[];
  /** In seconds. Empty if the model reports none. */
  readonly timestamps: readonly number[];
}

/** Synchronous. Its segments are a queue. */
export interface VoiceActivityDetector {
  acceptWaveform(samples: Float32Array): void;
  isEmpty(): boolean;
  /** `start` is in samples since the last reset. */
  front(enableExternalBuffer: boolean): { readonly start: number; readonly samples: Float32Array };
  pop(): void;
  /** Ends the current segment. */
  flush(): void;
  reset(): void;
}

/** Loads the package in `directory`. Loads the binary first, because the library would hide why it cannot be loaded. */
export function loadLibrary(directory: string): Library {
  const require = createRequire(join(directory, 'package.json'));
  const system = process.platform === 'win32' ? 'win' : process.platform;
  require(`sherpa-onnx-${system}-${process.arch}/sherpa-onnx.node`);
  return require(directory) as Library;
}
