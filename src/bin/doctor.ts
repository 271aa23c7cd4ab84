/**
 * `npm run doctor`: reports what was found, what is missing, and the commands that fix it. Exit code 1: a required
 * capability, every capability, the keys file or the fleet fails. With `--bench`, it measures the local models instead;
 * exit code 1: a model fails, or none is installed. Exit code 2: wrong usage.
 */
import { access, constants } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Capability, Finding } from '../../engines/contract/index.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { describeFailure, entriesForOperator, isWorking } from './startup-summary.ts';
import { inspectJobs } from '../jobs/directory.ts';
import { findFfmpeg } from '../engine-host/context.ts';
import { openEngines } from '../engine-host/registry/open-engines.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { type MemoryBudget } from '../engine-host/resident/memory-plan.ts';
import { runProgram } from '../system/child-process/child.ts';
import type { FleetInspection } from '../fleet/inspect.ts';
import { readFleet } from '../settings/fleet.ts';
import { describeDoubts } from '../settings/doubts.ts';
import { loadSettings, SettingsError, type LoadedSettings } from '../settings/load.ts';
import { endingCertificates, readTls } from '../settings/tls.ts';
import { readCommandLine, UsageError, type CommandLine } from './command-line.ts';
import { abortOnSignals } from './interruption.ts';
import { explainStartFailure } from './startup-error.ts';
import { describeUnserved } from './model-doubts.ts';
import { runBench } from './bench/index.ts';
import { linesOfGroups, linesOfLacking } from './asset-lines.ts';
import { checkKeys } from './check-keys.ts';
import { createMcpTools } from '../tools/mcp/index.ts';
import { codecsOfFfmpeg } from '../audio/wasm/needs-ffmpeg.ts';
import { messageOf } from '../../lib/errors.ts';
import { commandLine, installCommand } from '../../lib/setup-command.ts';

/** In print order. Transcription comes last, where it is most visible. */
const verdicts = [
  { capability: 'chat', title: 'Chat', broken: 'Chat: no model works.' },
  { capability: 'speech', title: 'Speech', broken: 'Speech: no model works.' },
  { capability: 'transcription', title: 'Transcription', broken: 'Transcription: no model works.' },
] as const;

const grammar = {
  command: 'doctor',
  about:
    'Reports what was found, what is missing, and how to fix it. Exit code 1: a required capability does not work, or none does.',
  example: ['--bench', 'speech.mp3', '--expect', '"What is said in it."'],
  takes: ['config', 'env-file', 'bench', 'expect'],
  rest: '[FILE]',
} as const;

const nothingToCheck: Finding = { what: 'engine', ok: true, detail: 'requires nothing on this machine' };

try {
  const given = readCommandLine(grammar);
  if (given) await run(given);
} catch (error) {
  if (!(error instanceof UsageError)) explainStartFailure(error);
  else {
    console.error(`doctor: ${error.message}`);
    process.exitCode = 2;
  }
}

async function run({ rest, isBench, expected }: CommandLine): Promise<void> {
  const [file] = rest;
  const unexpected = rest[isBench ? 1 : 0];
  if (unexpected !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(unexpected)}`);
  if (expected !== undefined && file === undefined) throw new UsageError('--expect needs --bench FILE');
  if (!isBench) return report();
  const signal = abortOnSignals();
  try {
    const isGood = await runBench(loadSettings(process.env), { file, expected }, signal);
    if (!isGood) process.exitCode = 1;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function report(): Promise<void> {
  const settings = loadSettings(process.env);
  const log = pino({ level: 'silent' });
  const fleet = await checkFleet(settings);
  await using engines = await openEngines(settings, process.env, log, { wrapAsRemote: fleet.wrapAsRemote });
  await using mcp = createMcpTools({ settings, env: process.env, log });
  const hasEngine = (capability: Capability) => engines.registry.of(capability).instances.length > 0;
  const doubts = describeDoubts({ env: process.env, settings, hasEngine, now: Date.now() });
  for (const line of doubts) console.log(`Warning: ${line}`);
  const tls = await readTls(settings); // throws, as at startup
  for (const { subject, ends } of tls ? endingCertificates(tls) : []) {
    console.log(`Warning: TLS_CERT: ${subject} ends on ${ends}; fix: renew it, and send SIGHUP to the service`);
  }
  print('this machine', [
    node(),
    await ffmpeg(settings),
    await data(settings),
    memory(engines.residents.budget),
    ...(await jobs(settings)),
  ]);
  if (fleet.findings.length > 0) print('fleet', fleet.findings);
  const optional = optionalInstances(engines.registry, settings);
  for (const [instance, found] of await linesByInstance(engines.registry)) {
    const lines = found.length > 0 ? found : [nothingToCheck];
    print(
      `engine ${instance}`,
      lines.map((line) => ({ ...line, isOptional: optional.has(instance) })),
    );
  }
  const groups = await linesOfGroups(engines.registry.assets);
  if (groups.length > 0) print(`assets that setup installs (further models: ${commandLine('models')})`, groups);
  const servers = await mcp.inspect();
  if (servers.length > 0) print('MCP servers', servers);
  const keys = await checkKeys(settings, engines.registry);
  if (keys.findings.length > 0) print('API keys', keys.findings);
  for (const line of describeUnserved(engines.registry, settings)) console.log(`Warning: ${line}`);
  if (!judge(engines.registry, settings) || !keys.isUsable || !fleet.isUsable) process.exitCode = 1;
}

interface Line extends Finding {
  /** True while the asset is being installed. */
  readonly isPending?: boolean;
  /** If true, a finding that is not ok is shown as absent instead of MISSING. */
  readonly isOptional?: boolean;
}

function print(title: string, lines: readonly Line[]): void {
  console.log(title);
  for (const { what, ok, detail, fix, isOptional, isPending } of lines) {
    const isDoubt = ok && fix !== undefined;
    const verdict = isDoubt ? 'warning' : ok ? 'ok     ' : isPending ? 'pending' : isOptional ? 'absent ' : 'MISSING';
    console.log(`  ${verdict} ${what.padEnd(12)} ${detail}${fix === undefined ? '' : `\n          fix: ${fix}`}`);
  }
}

/** Collects the missing assets and the findings of each instance. An instance may have several engines. */
async function linesByInstance(registry: Registry): Promise<Map<string, Line[]>> {
  const lines = new Map<string, Line[]>();
  for (const { instance, findings } of await registry.inspect()) {
    const missing = lines.has(instance) ? [] : linesOfLacking(registry.assets, instance);
    lines.set(instance, [...(lines.get(instance) ?? []), ...missing, ...findings]);
  }
  return lines;
}

/**
 * Returns the instances that the settings do not require. The service uses them only if this machine meets their
 * requirements.
 */
function optionalInstances(registry: Registry, settings: LoadedSettings): Set<string> {
  const unwanted = verdicts.filter(({ capability }) => !isAskedFor(capability, settings));
  return new Set(unwanted.flatMap(({ capability }) => registry.of(capability).instances));
}

function node(): Finding {
  return { what: 'Node.js', ok: true, detail: `${process.version}, ${process.execPath}` };
}

async function data({ dataDir }: LoadedSettings): Promise<Finding> {
  try {
    await makeDirectory(dataDir);
    await access(dataDir, constants.W_OK);
    return { what: 'data', ok: true, detail: dataDir };
  } catch (error) {
    const detail = `${dataDir} cannot be used: ${messageOf(error)}`;
    return { what: 'data', ok: false, detail, fix: 'set DATA_DIR to a directory that this user can write' };
  }
}

/** Returns no lines if there are no jobs and no problems. */
async function jobs({ dataDir }: LoadedSettings): Promise<Line[]> {
  const directory = join(dataDir, 'jobs');
  const { jobs, setAside, bytes, foreign, obstacle } = await inspectJobs(directory);
  const lines: Line[] = [];
  if (obstacle !== undefined) {
    const fix = `give this user a directory ${directory} that it can write`;
    lines.push({ what: 'jobs', ok: false, detail: `transcription jobs cannot be used: ${obstacle}`, fix });
  }
  if (foreign.length > 0) {
    const detail = `${directory} contains foreign files: ${foreign.join(', ')}`;
    lines.push({ what: 'jobs', ok: false, isOptional: true, detail, fix: 'move them to another directory' });
  }
  if (jobs === 0 && setAside === 0) return lines;
  const aside = setAside === 0 ? '' : `, ${setAside} set aside (unreadable)`;
  const line = { what: 'jobs', detail: `${jobs} transcription jobs, ${megabytes(bytes)}${aside}` };
  if (setAside === 0) return [...lines, { ...line, ok: true }];
  const fix = `look into ${join(directory, 'set-aside')} and delete it`;
  return [...lines, { ...line, ok: false, isOptional: true, fix }];
}

function memory({ bytes, isStrict }: MemoryBudget): Finding {
  const why = isStrict ? 'MEMORY_BUDGET' : 'half of what is available now';
  return { what: 'memory', ok: true, detail: `${megabytes(bytes)} for models that stay loaded (${why})` };
}

async function ffmpeg(settings: LoadedSettings): Promise<Line> {
  const program = findFfmpeg(settings, process.env);
  if (program === undefined) {
    const detail = `not found: recordings are decoded without it, except ${codecsOfFfmpeg}`;
    return { what: 'ffmpeg', ok: false, detail, fix: installCommand('ffmpeg'), isOptional: true };
  }
  const deadlineMs = 5_000;
  const call = { signal: AbortSignal.timeout(deadlineMs), timeoutMs: deadlineMs, cwd: tmpdir() };
  const { stdout } = await runProgram(program, ['-version'], call);
  return { what: 'ffmpeg', ok: true, detail: `${/version (\S+)/.exec(stdout)?.[1] ?? 'unknown version'}, ${program}` };
}

/** Prints one line per capability; returns false if a requested capability does not work, or if no capability works. */
function judge(registry: Registry, settings: LoadedSettings): boolean {
  let working = 0;
  let broken = 0;
  for (const { capability, title, broken: nothing } of verdicts) {
    if (capability === 'transcription' && !settings.transcribeEnabled) {
      console.log('Transcription is switched off (TRANSCRIBE_ENABLED=false).');
      continue;
    }
    const instances = registry.of(capability).instances;
    if (instances.length === 0) {
      console.log(`${title}: no engine is configured.`);
      continue;
    }
    const able = workingModels(registry, capability);
    const isWanted = isAskedFor(capability, settings);
    if (able.length > 0) working += 1;
    else if (isWanted) broken += 1;
    for (const failure of registry.of(capability).failures) console.log(`  ${describeFailure(failure)}`);
    if (able.length > 0) console.log(`${title} works with: ${able.join(', ')}`);
    else console.log(isWanted ? nothing : `${title}: no model was found by ${instances.join(', ')}.`);
  }
  return working > 0 && broken === 0;
}

function workingModels(registry: Registry, capability: Capability): string[] {
  return entriesForOperator(registry, capability)
    .filter(isWorking)
    .map(({ id }) => id);
}

/**
 * Without a list of engines, transcription is always required, chat if CHAT_MODEL or a provider is set, and speech if
 * TTS_MODEL is set.
 */
function isAskedFor(capability: Capability, { enginesAreListed, engines, ...named }: LoadedSettings): boolean {
  if (enginesAreListed || capability === 'transcription') return true;
  if (capability === 'speech') return named.ttsModel !== undefined;
  return named.chatModel !== undefined || 'openai' in engines;
}

/** `isUsable` is false if this node cannot start or cannot work. */
async function checkFleet(settings: LoadedSettings): Promise<FleetInspection & { readonly isUsable: boolean }> {
  try {
    const fleet = readFleet(settings);
    if (fleet === undefined) return { findings: [], isUsable: true };
    const { inspectFleet } = await import('../fleet/inspect.ts'); // its packages are installed only for FLEET_URL
    const inspection = await inspectFleet(fleet);
    return { ...inspection, isUsable: inspection.findings.every(({ ok, isOptional }) => ok || isOptional) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const findings = error.message.split('\n').map((detail) => ({ what: 'settings', ok: false, detail }));
    return { findings, isUsable: false };
  }
}
