/**
 * `check-engine ./my-engine.ts`: checks an engine against the engine contract. Exit code 1: the engine breaks a rule.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Capability } from '../../engines/contract/index.ts';
import { capabilities } from '../engine-host/registry/load-definition.ts';
import { RegistryError } from '../engine-host/registry/registry-error.ts';
import { chatChecks, type ChatSubject } from '../conformance/chat.ts';
import { Nonconformance, OutOfTime, runChecks, type Check } from '../conformance/kit.ts';
import { openerOf } from '../conformance/open.ts';
import { openRecorder } from '../conformance/recordings.ts';
import { createReport, explain } from '../conformance/report.ts';
import { speechChecks } from '../conformance/speech.ts';
import { transcriptionChecks, type TranscriptionSubject } from '../conformance/transcription.ts';
import { messageOf } from '../../lib/errors.ts';
import { commandLine } from '../../lib/setup-command.ts';

const usage = `Usage: ${commandLine('check-engine', 'ENGINE', '[--options JSON]', '[--words FILE]', '[--calls-tools]')}

Checks an engine against the rules of the engine contract, as the service would call it, and prints each result.
Exit code 0: it follows all rules; 1: it breaks a rule; 2: it could not be checked.

  ENGINE         as \`use\` in the settings: a path such as ./my-engine.js, a package, or a built-in engine
  --options      the engine's options, valid on this machine
  --words        for transcription: a WAV file, 16 kHz mono 16 bits, with words that the engine recognizes;
                 default: "yes no hello" in English
  --calls-tools  for chat: the model calls a tool when asked to and repeats its result;
                 default: a model that calls no tool passes

Example: ${commandLine('check-engine', './my-engine.js', '--options', `'{"model":"small"}'`)}`;

/** Timeout for creating the engine. */
const startMs = 20_000;

type AnySubject = TranscriptionSubject & ChatSubject;

const suites: Readonly<Record<Capability, readonly Check<AnySubject>[]>> = {
  transcription: transcriptionChecks,
  chat: chatChecks,
  speech: speechChecks,
};

class UsageError extends Error {}

const uncaught: unknown[] = [];
process.on('uncaughtException', (error) => void uncaught.push(error)); // includes unhandled rejections
/**
 * Set to true before the command itself exits. While false, an exit was caused by the engine and counts as a failure,
 * because it would end the service.
 */
let mayExit = false;
process.on('exit', () => {
  if (mayExit) return;
  console.error('the engine ended the process');
  process.exitCode = 1;
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    mayExit = true;
    process.exit(128 + constants.signals[signal]);
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  // For registry and usage errors, prints only the message; for others, also where they were thrown.
  const isExpected = error instanceof RegistryError || error instanceof UsageError;
  console.error(isExpected ? error.message : explain(error).join('\n'));
  if (error instanceof UsageError) console.error(`\n${usage}`);
  process.exitCode = 2;
}
// Exits explicitly, because the engine may hold handles that keep this process alive.
mayExit = true;
process.exit();

async function main(): Promise<number> {
  const args = readArguments();
  if (args === undefined) {
    console.log(usage);
    return 0;
  }
  const { use, options, words, callsTools } = args;
  useOwnTemporaryDirectory();
  const record = await openRecorder(words).catch((error: unknown) => {
    throw new UsageError(`--words: ${messageOf(error)}`);
  });
  const subject = { options, open: openerOf(use, process.cwd()), record, callsTools };
  let broken = 0;
  for (const capability of await capabilitiesOf(subject)) {
    console.log(capability);
    broken += await checkAll(suites[capability], subject);
  }
  return broken > 0 ? 1 : 0;
}

/** Prints each result as soon as it is known; returns the number of broken rules. */
async function checkAll(checks: readonly Check<AnySubject>[], subject: AnySubject): Promise<number> {
  const report = createReport((line) => console.log(line));
  let broken = 0;
  for (const [index, check] of checks.entries()) {
    const [result] = await runChecks([check], subject);
    const stray = uncaughtFailure();
    const failure = result?.failure ?? stray;
    report({ ...result, check: check.name, failure });
    if (failure !== undefined) broken += 1;
    const others = checks.length - index - 1;
    if (failure instanceof OutOfTime && others > 0) {
      console.log(`          the call may still be running, so the remaining ${others} checks are skipped`);
      break;
    }
  }
  return broken;
}

/**
 * Returns an uncaught exception since the last check; undefined if there was none. In the service, it would end the
 * process.
 */
function uncaughtFailure(): Nonconformance | undefined {
  const [cause] = uncaught.splice(0);
  return cause === undefined ? undefined : new Nonconformance('uncaught exception or unhandled rejection', { cause });
}

/** Returns undefined if the usage should be printed. */
function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        options: { type: 'string', default: '{}' },
        words: { type: 'string' },
        'calls-tools': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return undefined;
    const [use] = positionals;
    if (use === undefined || positionals.length > 1) throw new Error('expected exactly one ENGINE');
    const options: unknown = JSON.parse(values.options);
    if (Object.prototype.toString.call(options) !== '[object Object]')
      throw new Error('--options is not a JSON object');
    const { words, 'calls-tools': callsTools } = values;
    return { use, options: options as Record<string, unknown>, words, callsTools };
  } catch (error) {
    const message = messageOf(error);
    throw new UsageError(error instanceof SyntaxError ? `--options is not JSON: ${message}` : message);
  }
}

/** Creates a directory for all temporary files, so that they are removed even if a check never ends. */
function useOwnTemporaryDirectory(): void {
  const directory = mkdtempSync(join(tmpdir(), 'parlance-check-'));
  process.env.TMPDIR = directory;
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
}

async function capabilitiesOf(subject: AnySubject): Promise<Capability[]> {
  const found: Capability[] = [];
  const starts: Check<AnySubject> = {
    name: 'the engine starts',
    async run({ open, options }) {
      await using opened = await open(options);
      found.push(...capabilities.filter((capability) => opened.registry.of(capability).instances.length > 0));
    },
  };
  const [result] = await runChecks([starts], subject, startMs);
  const { failure } = result ?? {};
  if (failure instanceof OutOfTime) throw new Nonconformance(`the engine did not start within ${startMs / 1000} s`);
  if (failure !== undefined) throw failure as Error;
  return found;
}
