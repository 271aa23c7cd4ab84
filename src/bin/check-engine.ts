/** `check-engine ./my-engine.ts`: holds an engine against the engine contract. Exit code 1: it breaks a rule. */
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Capability } from '../../engines/contract/index.ts';
import { capabilities, RegistryError } from '../engine-host/registry.ts';
import { chatChecks, type ChatSubject } from '../conformance/chat.ts';
import { Nonconformance, OutOfTime, runChecks, type Check } from '../conformance/kit.ts';
import { openerOf } from '../conformance/open.ts';
import { openRecorder } from '../conformance/recordings.ts';
import { createReport, explain } from '../conformance/report.ts';
import { speechChecks } from '../conformance/speech.ts';
import { transcriptionChecks, type TranscriptionSubject } from '../conformance/transcription.ts';

const usage = `check-engine ENGINE [--options JSON] [--words FILE] [--calls-tools]
  ENGINE         as \`use\` in the settings: a path such as ./my-engine.js, a package, or a built-in engine
  --options      its settings, with which it works here
  --words        for transcription: a WAV file, 16 kHz mono 16 bits, of words that it understands;
                 absent: "yes no hello" in English
  --calls-tools  for chat: the model behind it calls a tool, and says what it answered, when it is asked to;
                 absent: whether a tool was offered to a model that calls none is not known`;

/** For an engine to be created and to list its models. */
const startMs = 20_000;

type AnySubject = TranscriptionSubject & ChatSubject;

const suites: Readonly<Record<Capability, readonly Check<AnySubject>[]>> = {
  transcription: transcriptionChecks,
  chat: chatChecks,
  speech: speechChecks,
};

class UsageError extends Error {}

const uncaught: unknown[] = [];
process.on('uncaughtException', (error) => void uncaught.push(error)); // rejections that nobody awaits, too
/** Until then, an end of this process is the engine's doing, whatever code it gives: it would be the end of the service. */
let mayEnd = false;
process.on('exit', () => {
  if (mayEnd) return;
  console.error('the engine has ended the process');
  process.exitCode = 1;
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    mayEnd = true;
    process.exit(128 + constants.signals[signal]);
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  // What an engine is refused for is said in its words; whatever else comes, with its place.
  const isSaid = error instanceof RegistryError || error instanceof UsageError;
  console.error(isSaid ? error.message : explain(error).join('\n'));
  if (error instanceof UsageError) console.error(`\n${usage}`);
  process.exitCode = 2;
}
// An engine may have left what keeps this process alive.
mayEnd = true;
process.exit();

async function main(): Promise<number> {
  const { use, options, words, callsTools } = readArguments();
  takeOwnDirectory();
  const record = await openRecorder(words).catch((error: unknown) => {
    throw new UsageError(`--words: ${(error as Error).message}`);
  });
  const subject = { options, open: openerOf(use, process.cwd()), record, callsTools };
  let broken = 0;
  for (const capability of await capabilitiesOf(subject)) {
    console.log(capability);
    broken += await checkAll(suites[capability], subject);
  }
  return broken > 0 ? 1 : 0;
}

/** Tells each verdict when it is there; returns how many rules are broken. */
async function checkAll(checks: readonly Check<AnySubject>[], subject: AnySubject): Promise<number> {
  const tell = createReport((line) => console.log(line));
  let broken = 0;
  for (const [index, check] of checks.entries()) {
    const [verdict] = await runChecks([check], subject);
    const stray = uncaughtFailure();
    const failure = verdict?.failure ?? stray;
    tell({ ...verdict, check: check.name, failure });
    if (failure !== undefined) broken += 1;
    const others = checks.length - index - 1;
    if (failure instanceof OutOfTime && others > 0) {
      console.log(`         the call may still go on, so the ${others} rules that follow are not looked at`);
      break;
    }
  }
  return broken;
}

/** Of what was thrown where nobody waits for it; the service would end. */
function uncaughtFailure(): Nonconformance | undefined {
  const [cause] = uncaught.splice(0);
  return cause === undefined ? undefined : new Nonconformance('it throws where nobody can catch it', { cause });
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        options: { type: 'string', default: '{}' },
        words: { type: 'string' },
        'calls-tools': { type: 'boolean', default: false },
      },
    });
    const [use] = positionals;
    if (use === undefined || positionals.length > 1) throw new Error('one engine is to be named');
    const options: unknown = JSON.parse(values.options);
    if (Object.prototype.toString.call(options) !== '[object Object]') throw new Error('--options is no JSON object');
    const { words, 'calls-tools': callsTools } = values;
    return { use, options: options as Record<string, unknown>, words, callsTools };
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(error instanceof SyntaxError ? `--options is no JSON: ${message}` : message);
  }
}

/** For everything temporary, so that it also goes when a check does not end. */
function takeOwnDirectory(): void {
  const directory = mkdtempSync(join(tmpdir(), 'parlance-check-'));
  process.env.TMPDIR = directory;
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
}

async function capabilitiesOf(subject: AnySubject): Promise<Capability[]> {
  const found: Capability[] = [];
  const starts: Check<AnySubject> = {
    name: 'it starts',
    async run({ open, options }) {
      await using opened = await open(options);
      found.push(...capabilities.filter((capability) => opened.registry.instancesFor(capability).length > 0));
    },
  };
  const [verdict] = await runChecks([starts], subject, startMs);
  const { failure } = verdict ?? {};
  if (failure instanceof OutOfTime) throw new Nonconformance(`it does not start within ${startMs / 1000} s`);
  if (failure !== undefined) throw failure as Error;
  return found;
}
