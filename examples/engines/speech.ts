// my-engine: speaks Morse code. Replace `speak` by your synthesizer.
import { defineEngine, EngineError } from '@parlance/server/engine';

interface Options {
  /** Milliseconds of a dot. */
  dot?: number;
}

const sampleRate = 16_000;
/** Hertz by the id of the voice. */
const pitches = new Map([
  ['low', 440],
  ['high', 880],
]);
const voices = [...pitches.keys()].map((id) => ({ id, name: `A ${id} tone`, language: null }));

export default defineEngine<'speech', Options>({
  contract: 1,
  name: 'my-engine',
  capability: 'speech',
  options: {
    type: 'object',
    properties: {
      dot: { type: 'integer', minimum: 1, maximum: 1000, default: 60, description: 'Milliseconds of a dot.' },
    },
    additionalProperties: false,
  },
  create({ dot = 60 }, context) {
    return {
      models: [{ id: 'my-engine', local: true, voices, supports: ['speed'] }],
      async synthesize({ text, model, voice = 'low', format, speed = 1 }, { signal }) {
        if (model !== 'my-engine') throw new EngineError('unknown-model', `Unknown model ${model}.`);
        const pitch = pitches.get(voice);
        if (pitch === undefined) throw new EngineError('voice-not-supported', `Unknown voice ${voice}.`);
        // The service makes mp3, wav, ogg and opus of the samples, as fast as they are read.
        return context.encode({ sampleRate, samples: speak(text, pitch, dot / speed) }, format, { signal });
      },
    };
  },
});

const letters = 'etianmsurwdkgohvf\u00fcl\u00e4pjbxcyzq'; // in the order of the codes: . - .. .- -. -- ...

async function* speak(text: string, pitch: number, dot: number): AsyncGenerator<Int16Array> {
  yield sound(0, dot);
  for (const letter of text.toLowerCase()) {
    for (const sign of codeOf(letter)) {
      yield sound(pitch, sign === '.' ? dot : 3 * dot);
      yield sound(0, dot);
    }
    yield sound(0, 2 * dot);
  }
}

/** The binary digits of its place, behind the first: 0 is a dot. */
function codeOf(letter: string): string {
  const place = letters.indexOf(letter) + 2;
  return place < 2 ? '' : place.toString(2).slice(1).replaceAll('0', '.').replaceAll('1', '-');
}

function sound(pitch: number, ms: number): Int16Array {
  const length = Math.round((ms * sampleRate) / 1000);
  return Int16Array.from({ length }, (_, at) => 8_000 * Math.sin((2 * Math.PI * pitch * at) / sampleRate));
}
