/** A service that transcribes with real programs, and a detector of speech beside them. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { weightsPath } from '../../../engines/lib/voice-activity/weights.ts';
import { upload, type TranscriptionAnswer } from '../../support/local-service.ts';
import { processesWith } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { wav, writeToneModel } from '../../support/tone-model.ts';
import { voiceActivityModel } from '../../support/voice-activity-model.ts';

export const rate = 16_000;

export const recordingOf = (samples: Int16Array): Buffer => wav(samples, { rate, channels: 1 });

export interface StartOptions {
  /** The detector's model: a file, its content, or null for none. Default: whatever is loud is speech. */
  readonly weights?: string | Buffer | null;
  /** Paths of whisper-cli and, beside it, of whisper-host. */
  readonly program: string;
  /** More options of the engine. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The model is made of tones. whisper-cli is a script that counts: a line of `encodes()` for each time that the program was
 * started, with how often its encoder ran.
 */
export async function startDetecting({
  weights = voiceActivityModel(),
  program,
  options = {},
  env = {},
}: StartOptions) {
  const directory = await temporaryDirectory();
  const [file, log, counting] = ['tones.bin', 'encodes', 'whisper-cli'].map((name) => join(directory, name));
  await writeToneModel(file!);
  await writeFile(counting!, countingScript(program, log!), { mode: 0o755 });
  await writeFile(log!, '');
  // By whisper-cli: whisper-host does not say how often it encodes.
  const engine = {
    use: 'whisper-cli',
    program: counting,
    keepLoaded: false,
    models: [{ id: 'tones', file }],
    ...options,
  };
  const service = await startTestService({ env, config: JSON.stringify({ engines: { local: engine } }) });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const place = weightsPath(join(service.dir, 'data'));
  if (weights !== null) await install(place, weights);
  return {
    service,
    place,
    async transcribe(
      recording: Uint8Array,
      fields: Readonly<Record<string, string>> = {},
    ): Promise<TranscriptionAnswer> {
      const answer = await upload(service, recording, { fields });
      return { status: answer.status, ...((await answer.json()) as object) };
    },
    encodes: async () =>
      (await readFile(log!, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map(Number),
    detectors: () => detectorsOf(service),
  };
}

export async function install(place: string, weights: string | Buffer): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  await (typeof weights === 'string' ? copyFile(weights, place) : writeFile(place, weights));
}

/** Process ids of the detectors. */
export const detectorsOf = ({ dir }: TestService): string[] => processesWith(weightsPath(join(dir, 'data')));

/** Without `-np` whisper-cli says how often it encoded; what it prints besides is on stderr. */
function countingScript(program: string, log: string): string {
  return `#!/bin/sh
shift
"${program}" "$@" 2> "${log}.$$"
status=$?
sed -n 's/.*encode time = .* \\([0-9]*\\) runs.*/\\1/p' "${log}.$$" >> "${log}"
rm "${log}.$$"
exit $status
`;
}
