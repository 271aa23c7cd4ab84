/**
 * Command line for the WASM package with the arguments of espeak-ng: `--voices` prints the table of voices;
 * `--stdin --stdout -b 1 -v VOICE -s RATE` reads UTF-8 text and streams a WAV file.
 */
import { readFileSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { wavHeader } from '../../lib/wav.ts';
import initialize, { type Espeak, type EspeakVoice } from '@echogarden/espeak-ng-emscripten';

/** Chunks per write; the package produces chunks of less than a tenth of a second. */
const chunksPerWrite = 16;

/** Length in the header of a streamed WAV, which readers interpret as unknown. */
const unknownLength = 0x7fff_ffff;

const { values } = parseArgs({
  options: {
    voices: { type: 'boolean' },
    stdin: { type: 'boolean' },
    stdout: { type: 'boolean' },
    encoding: { type: 'string', short: 'b' },
    voice: { type: 'string', short: 'v', default: 'en' },
    speed: { type: 'string', short: 's', default: '175' },
  },
});

const { eSpeakNGWorker } = await initialize();
const espeak = new eSpeakNGWorker();
if (values.voices) write(Buffer.from(espeak.list_voices().map(toRow).join('')));
else speak(espeak, readFileSync(0, 'utf8'), { voice: values.voice, rate: Number(values.speed) });

interface Manner {
  readonly voice: string;
  /** Words per minute. */
  readonly rate: number;
}

function speak(speaker: Espeak, text: string, { voice, rate }: Manner): void {
  if (speaker.set_voice(voice) !== 0) throw new Error(`unknown voice ${voice}`);
  speaker.set_rate(rate);
  write(wavHeader(unknownLength, speaker.get_samplerate()));
  let held: Buffer[] = [];
  speaker.synthesize(withoutMarkup(text), (samples) => {
    held.push(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
    if (held.length === chunksPerWrite) {
      write(Buffer.concat(held));
      held = [];
    }
    return false; // continue
  });
  write(Buffer.concat(held));
}

/** The package parses SSML, so plain text must be escaped. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Blocks until the reader has taken the bytes: stdout of a child process is a blocking pipe. */
function write(bytes: Buffer): void {
  for (let start = 0; start < bytes.length;) start += writeSync(1, bytes, start);
}

function toRow({ name, identifier, languages: [own, ...others] }: EspeakVoice): string {
  const also = others.map((other) => `(${other.name} ${other.priority})`).join('');
  return ` ${own?.priority ?? 5}  ${own?.name ?? identifier}  --/M  ${name.replaceAll(' ', '_')}  ${identifier}  ${also}\n`;
}
