/** The package has no types; these cover what we use. */
declare module '@echogarden/espeak-ng-emscripten' {
  export interface EspeakVoice {
    readonly name: string;
    /** The file of the voice, such as `gmw/en`. */
    readonly identifier: string;
    readonly languages: readonly { readonly name: string; readonly priority: number }[];
  }

  export interface Espeak {
    list_voices(): EspeakVoice[];
    /** Selects a voice by tag or file; returns 0 if the voice exists. */
    set_voice(name: string): number;
    /** Words per minute. */
    set_rate(rate: number): void;
    get_samplerate(): number;
    /** `take` receives mono samples during synthesis; returning true stops it. */
    synthesize(ssml: string, take: (samples: Int16Array<ArrayBuffer>) => boolean): void;
  }

  export default function initialize(): Promise<{ readonly eSpeakNGWorker: new () => Espeak }>;
}
