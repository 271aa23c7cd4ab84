/** Services whose whisper-cli or ffmpeg does not behave: tiny real programs stand in for them. */
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processes, type Process } from './proc.ts';
import { until } from './processes.ts';
import { withDirectory } from './local-service.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';
import { writeToneModel } from './tone-model.ts';

const fixtures = join(import.meta.dirname, '../fixtures');
export const standIns = {
  'whisper-cli': join(fixtures, 'whisper/whisper-cli.mjs'),
  'endless ffmpeg': join(fixtures, 'whisper/ffmpeg-endless.sh'),
} as const;

interface MisbehavingOptions extends TestServiceOptions {
  /** How the stand-in may behave, as a request's `model` chooses it; see the fixture. */
  readonly behaviors: readonly string[];
  /** Further options of every model, in YAML's flow style. */
  readonly model?: string;
  /** Further options of the engine, in YAML's flow style. */
  readonly engine?: string;
}

export async function startMisbehavingService(options: MisbehavingOptions): Promise<TestService> {
  const models = await mkdtemp(join(tmpdir(), 'parlance-model-'));
  await writeToneModel(join(models, 'tones'));
  for (const behavior of options.behaviors) await symlink('tones', join(models, `${behavior}.bin`));
  const more = options.model === undefined ? '' : `, ${options.model}`;
  const entries = options.behaviors.map((name) => `{ id: ${name}, file: ${join(models, name)}.bin${more} }`);
  const engine = [`use: whisper-cli`, `program: ${standIns['whisper-cli']}`, `models: [${entries.join(', ')}]`];
  if (options.engine !== undefined) engine.push(options.engine);
  const config = `engines: { local: { ${engine.join(', ')} } }`;
  return withDirectory(models, startTestService({ ...options, config }));
}

/** The running programs of a service: whoever names its directory. */
export function programsOf({ dir }: TestService): Process[] {
  return processes().filter(({ pid, commandLine }) => pid !== process.pid && commandLine.includes(dir));
}

/** Resolves with the programs of a service once this stand-in is among them: whoever came before it may still end. */
export async function runningPrograms(service: TestService, standIn: keyof typeof standIns): Promise<Process[]> {
  let found: Process[] = [];
  await until(`${standIn} is busy`, () => {
    found = programsOf(service).filter(({ commandLine }) => commandLine.includes(standIns[standIn]));
    return found.length > 0;
  });
  return found; // not looked up again: while a process execs the next program, its command line is empty
}

/** Whether anything of these programs, children included, still lives. */
export function anyAlive(programs: readonly Process[]): boolean {
  const groups = new Set(programs.map(({ group }) => group));
  return processes().some(({ group }) => groups.has(group));
}
