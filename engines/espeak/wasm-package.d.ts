/** The package brings no types; these are of what is used. */
declare module '@echogarden/espeak-ng-emscripten' {
  export interface EspeakVoice {
    readonly name: string;
    /** Its file, such as `gmw/en`. */
    readonly identifier: string;
    readonly languages: readonly { readonly name: string; readonly priority: number }[];
  }

  export interface Espeak {
    list_voices(): EspeakVoice[];
    /** By tag or file; 0: there is such a voice. */
    set_voice(name: string): number;
    get_samplerate(): number;
    /** `take` gets mono samples while the text is spoken; true ends it. */
    synthesize(ssml: string, take: (samples: Int16Array<ArrayBuffer>) => boolean): void;
  }

  export default function initialize(): Promise<{ readonly eSpeakNGWorker: new () => Espeak }>;
}
