/** `check-engine ./my-engine.ts`: holds an engine against the engine contract. Exit code 1: it breaks a rule. */
import { parseArgs } from 'node:util';
import type { Capability } from '../engines/contract.ts';
import { capabilities } from '../engines/registry.ts';
import { chatChecks } from './conformance/chat.ts';
import { runChecks, shown, type Check, type Verdict } from './conformance/kit.ts';
import { openerOf } from './conformance/open.ts';
import { openRecorder } from './conformance/recordings.ts';
import { speechChecks } from './conformance/speech.ts';
import { transcriptionChecks, type TranscriptionSubject } from './conformance/transcription.ts';

const usage = `check-engine ENGINE [--options JSON] [--words FILE]
  ENGINE     as \`use\` in the settings: a path such as ./my-engine.js, a package, or a built-in engine
  --options  its settings, with which it works here
  --words    for transcription: a WAV file, 16 kHz mono 16 bits, of words that it understands;
             absent: "yes no hello" in English`;

const suites: Readonly<Record<Capability, readonly Check<TranscriptionSubject>[]>> = {
  transcription: transcriptionChecks,
  chat: chatChecks,
  speech: speechChecks,
};

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { options: { type: 'string', default: '{}' }, words: { type: 'string' } },
  });
  const [use] = positionals;
  if (use === undefined || positionals.length > 1) throw new Error('one engine is to be named');
  const subject = {
    options: JSON.parse(values.options) as Record<string, unknown>,
    open: openerOf(use, process.cwd()),
    record: await openRecorder(values.words),
  };
  for (const capability of await capabilitiesOf(subject)) {
    console.log(capability);
    report(await runChecks(suites[capability], subject));
  }
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 2;
}

async function capabilitiesOf({ open, options }: TranscriptionSubject): Promise<Capability[]> {
  await using opened = await open(options);
  return capabilities.filter((capability) => opened.registry.instancesFor(capability).length > 0);
}

function report(verdicts: readonly Verdict[]): void {
  for (const { check, failure } of verdicts) {
    console.log(`  ${failure === undefined ? 'ok    ' : 'BROKEN'} ${check}`);
    if (failure === undefined) continue;
    console.log(`         ${failure instanceof Error ? failure.message : shown(failure)}`);
    process.exitCode = 1;
  }
}
