/**
 * `npm run doctor -- --bench`: measures the installed local models for speech and transcription on this machine.
 * Engines that call a provider are not opened, so no data leaves the machine.
 */
import { randomUUID } from 'node:crypto';
import { open, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { pcmFormat, type Decoded } from '../../../engines/contract/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import { commandLine, setupCommand } from '../../../lib/setup-command.ts';
import { lengthOf, wavHeader } from '../../../lib/wav.ts';
import { decodeTo } from '../../audio/decode/index.ts';
import { sniff } from '../../audio/sniff.ts';
import { findFfmpeg } from '../../engine-host/context.ts';
import type { Registry } from '../../engine-host/registry/registry.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import type { InstanceSettings } from '../../settings/engines.ts';
import type { LoadedSettings } from '../../settings/load.ts';
import { UsageError } from '../command-line.ts';
import { hearing, measure, openQuietly, speaking, type BenchContext, type Sample } from './measure.ts';
import { tableOf, type Row } from './table.ts';
import { wordsOf } from './word-errors.ts';

/** The text that voices speak. */
const sentence =
  'The last ferry left the river bank before sunrise, with forty passengers, two sleepy dogs and a box of letters. ' +
  'Nobody on the pier knew when it would return, but everyone waved until it was out of sight.';

export interface BenchRequest {
  /** Path of a recording. If undefined, recognizers transcribe the sentence, spoken by an English voice. */
  readonly file: string | undefined;
  /** The words spoken in the recording, if known. */
  readonly expected: string | undefined;
}

interface Bench extends BenchContext {
  /** Directory for decoded recordings. */
  readonly directory: string;
  readonly rows: Row[];
  sample: Sample | undefined;
}

/** Returns false if a model fails or if no model is installed. Throws a `UsageError`, or the signal's reason. */
export async function runBench(
  all: LoadedSettings,
  { file, expected }: BenchRequest,
  signal: AbortSignal,
): Promise<boolean> {
  if (expected !== undefined && wordsOf(expected).length === 0) throw new UsageError('--expect has no words');
  const settings = withoutProviders(all);
  await using engines = await openQuietly({ settings, signal });
  await using directory = await engines.workspace.directory('bench');
  const bench: Bench = { settings, signal, directory: directory.path, rows: [], sample: undefined };
  if (file !== undefined) bench.sample = { audio: await decodeFile(file, bench), expected, origin: resolve(file) };
  for (const model of installed('speech', engines.registry, settings)) await measureVoices(model, bench);
  for (const { id } of installed('transcription', engines.registry, settings)) await measureRecognizer(id, bench);
  report(bench);
  return bench.rows.length > 0 && bench.rows.every(({ result }) => typeof result !== 'string');
}

function withoutProviders(all: LoadedSettings): LoadedSettings {
  const { transcribeModel: _transcribe, chatModel: _chat, ttsModel: _tts, ...settings } = all; // may name a provider's model
  const isOwn = ({ baseUrl }: InstanceSettings) => baseUrl === undefined;
  const engines = Object.entries(settings.engines).map(([name, given]) => {
    return [name, 'use' in given && isOwn(given) ? given : [given].flat().filter(isOwn)] as const;
  });
  return { ...settings, engines: Object.fromEntries(engines) };
}

function installed<C extends 'speech' | 'transcription'>(
  capability: C,
  registry: Registry,
  { enginesAreListed }: LoadedSettings,
): readonly ServedModel<C>[] {
  const models = registry.of(capability).all.filter(({ entry }) => entry.local);
  if (enginesAreListed) return models; // then a model that is not installed counts as a failure
  return models.filter(({ entry, availability: { code } }) => {
    const isLacking = registry.assets.availabilityOf(entry) !== undefined;
    return !isLacking && code !== 'program-missing';
  });
}

/**
 * Measures one voice per program, because voices of a program share their weights. The program's name is the prefix of
 * their ids.
 */
async function measureVoices({ id, entry, engine, instance }: ServedModel<'speech'>, bench: Bench): Promise<void> {
  const { voices = [], defaultVoice = voices[0]?.id } = entry;
  const seen: string[] = [];
  for (const voice of new Set([defaultVoice, ...voices.map((one) => one.id)])) {
    if (seen.some((program) => voice === program || voice?.startsWith(`${program}/`))) continue;
    const model = [id, voice ?? []].flat().join(' ');
    console.error(`Measuring ${model} ...`);
    const { result, programs, pcm } = await measure(speaking(id, voice, sentence, bench), bench);
    bench.rows.push({ model, kind: 'speech', result });
    const { language = null } = voices.find((one) => one.id === voice) ?? {};
    if (pcm && (language ?? 'en') === 'en') bench.sample ??= await sampleOf(pcm, model, bench);
    seen.push(...programs);
    if (seen.length === 0) return; // without a resident program (as for espeak), one voice is enough
  }
  // If a model has other voices, a broken voice is missing from its list of voices.
  for (const { what, ok, detail } of (await engine.inspect?.()) ?? []) {
    const model = `${instance} ${what}`;
    const isNew = !bench.rows.some((row) => row.model === model);
    if (!ok && isNew) bench.rows.push({ model, kind: 'speech', result: detail });
  }
}

async function sampleOf(pcm: Buffer, model: string, bench: Bench): Promise<Sample> {
  const path = join(bench.directory, randomUUID());
  await writeFile(path, Buffer.concat([wavHeader(pcm.length, pcmFormat.sampleRate), pcm]));
  return { audio: await decodeFile(path, bench), expected: sentence, origin: `"${sentence}", spoken by ${model}` };
}

async function measureRecognizer(model: string, bench: Bench): Promise<void> {
  const { rows, sample } = bench;
  const how = commandLine('doctor', '--bench', 'FILE');
  if (sample) console.error(`Measuring ${model} ...`);
  const { result } = sample
    ? await measure(hearing(model, sample, bench), bench)
    : { result: `no English voice could speak a recording; name one: ${how}` };
  rows.push({ model, kind: 'transcription', result });
}

/** Throws a `UsageError` or the signal's reason. */
async function decodeFile(file: string, { settings, directory, signal }: Bench): Promise<Decoded> {
  const path = resolve(file);
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is not a file');
    await using opened = await open(path);
    const found = await sniff(opened);
    if (found.container === undefined) throw new Error(`it is ${found.detected}, which is not a recording`);
    const { transcribeMaxSeconds: maxSeconds } = settings;
    const request = { path, container: found.container, wavPath: join(directory, randomUUID()), maxSeconds };
    return await decodeTo(request, { signal, ffmpeg: findFfmpeg(settings, process.env) });
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError(`--bench: ${path} cannot be used: ${messageOf(error)}`);
  }
}

function report({ rows, sample }: Bench): void {
  if (rows.length === 0) {
    console.log(`No local model is installed: \`${setupCommand}\` installs transcription.`);
    return;
  }
  console.log(tableOf(rows));
  const processor = `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown processor'}`;
  console.log(`\nMeasured with a loaded model on this machine (${processor}).`);
  console.log('Real-time factor: seconds of work for a second of audio. Below 1, it is faster than the audio.');
  if (sample) console.log(`Recording: ${sample.origin}, ${(lengthOf(sample.audio) / 1000).toFixed(1)} s.`);
}
