/** The built-in engines as the kit checks them: with their programs, or with providers of the tests' own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { chatChecks, type ChatSubject } from '../../src/conformance/chat.ts';
import type { Check } from '../../src/conformance/kit.ts';
import { openerOf } from '../../src/conformance/open.ts';
import { openRecorder } from '../../src/conformance/recordings.ts';
import { speechChecks } from '../../src/conformance/speech.ts';
import type { OpenSubject, Subject } from '../../src/conformance/subject.ts';
import { transcriptionChecks, type TranscriptionSubject } from '../../src/conformance/transcription.ts';
import { writeChatModel } from '../support/chat-model.ts';
import { hasLibrary } from '../engines/llama-local/support.ts';
import { describeWith, requireProgram } from '../support/programs.ts';
import { writeRecognizer } from '../support/recognizer-model.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';
import { writeVoice } from '../support/voice-model.ts';
import { startChatProvider, startSpeechProvider, startTranscriptionProvider } from './providers.ts';
import { sharedDirectory } from './support.ts';

const directory = sharedDirectory();

interface BuiltIn {
  readonly needs: readonly string[];
  /** Whether what else it needs is there. Default: true. */
  readonly isThere?: boolean;
  readonly callsTools?: boolean;
  readonly checks: readonly Check<TranscriptionSubject & ChatSubject>[];
  readonly options: () => Promise<Record<string, unknown>>;
  /** Words that it understands, where it knows none of the kit's. */
  readonly words?: () => Promise<string>;
}

async function writeToneWords(): Promise<string> {
  const file = join(directory.path, 'words.wav');
  await writeFile(file, toneWav({ words: ['alpha', 'bravo', 'charlie', 'delta'], rate: 16_000 }));
  return file;
}

export const builtIns: Readonly<Record<string, BuiltIn>> = {
  'whisper-cli': {
    needs: ['whisper-cli'],
    checks: transcriptionChecks,
    options: async () => {
      const file = join(directory.path, 'tones.bin');
      await writeToneModel(file);
      return { program: requireProgram('whisper-cli'), models: [{ id: 'tones', file }], slots: 1, threads: 1 };
    },
    words: writeToneWords,
  },
  'hosted-stt': {
    needs: [],
    checks: transcriptionChecks,
    options: async () => ({
      baseUrl: await startTranscriptionProvider(),
      apiKey: 'sk-test',
      models: [{ id: 'ears', languages: ['en'], supports: ['prompt', 'temperature', 'segment', 'word'] }],
    }),
  },
  'llm-agent': {
    needs: [],
    checks: chatChecks,
    options: async () => ({ baseUrl: await startChatProvider(), apiKey: 'sk-test', models: ['mind'] }),
  },
  'llama-local': {
    needs: [],
    isThere: hasLibrary,
    callsTools: false, // but for read_aloud
    checks: chatChecks,
    options: async () => ({ models: [{ id: 'mind', file: await writeChatModel(join(directory.path, 'chat.gguf')) }] }),
  },
  espeak: { needs: ['espeak-ng'], checks: speechChecks, options: () => Promise.resolve({ voice: 'en' }) },
  'sherpa-voice': {
    needs: [],
    checks: speechChecks,
    options: async () => {
      const file = await writeVoice(directory.path, 'tones', { kind: 'piper', isPlain: true });
      return { voices: [{ id: 'tones', file }] };
    },
  },
  'sherpa-stt': {
    needs: [],
    checks: transcriptionChecks,
    options: async () => {
      const folder = await writeRecognizer(join(directory.path, 'tones'), { code: 'words' });
      return { models: [{ id: 'tones', kind: 'nemo-ctc', folder }] };
    },
    words: writeToneWords,
  },
  tts: {
    needs: [],
    checks: speechChecks,
    options: async () => ({
      baseUrl: await startSpeechProvider(),
      apiKey: 'sk-test',
      models: [{ id: 'mouth', voices: ['ann'], formats: ['pcm'] }],
    }),
  },
  sandbox: {
    needs: [],
    checks: [...transcriptionChecks, ...chatChecks, ...speechChecks],
    options: () => Promise.resolve({}),
  },
};

/** Those of the checks, with every built-in engine. */
export function describeBuiltIns(isChecked: (check: Check<never>) => boolean): void {
  for (const [name, { needs, isThere = true, callsTools = true, checks, options, words }] of Object.entries(builtIns)) {
    if (!isThere) continue;
    describeWith(needs, name, () => {
      let subject: TranscriptionSubject & ChatSubject;
      beforeAll(async () => {
        const record = await openRecorder(await words?.());
        subject = { options: await options(), open: openerOf(name, directory.path), record, callsTools };
      });
      const chosen = checks.filter(isChecked);
      const calling = chosen.filter((check) => !opensItsOwn(check));
      if (calling.length > 0) describe('opened once', () => callOneEngine(calling, () => subject));

      it.each(chosen.filter(opensItsOwn))('$name', async ({ name: rule, run }) => {
        await run(
          isLocal(rule) ? { ...subject, open: async (given) => withoutSlow(await subject.open(given)) } : subject,
        );
      });
    });
  }
}

function callOneEngine<S extends Subject>(checks: readonly Check<S>[], subject: () => S): void {
  let opened: OpenSubject;
  beforeAll(async () => void (opened = await subject().open(subject().options)));
  afterAll(() => opened[Symbol.asyncDispose]());
  it.each(checks)('$name', async ({ run }) => {
    const lent = { ...opened, [Symbol.asyncDispose]: () => Promise.resolve() };
    await run({ ...subject(), open: () => Promise.resolve(lent) });
  });
}

/** Checks that take the time. */
export const isTimed = ({ name }: Check<never>): boolean => /promptly|from memory/.test(name);

const isLocal = (name: string): boolean => name === 'a local model connects to no other machine';

/** Checks of how an engine starts, connects and ends, and those with a stopwatch; the others only call it. */
const opensItsOwn = (check: Check<never>): boolean =>
  isTimed(check) || isLocal(check.name) || /options|outlives/.test(check.name);

/** The slow models of the sandbox are the others with pauses, half a minute for the kit's long text. */
function withoutSlow(opened: OpenSubject): OpenSubject {
  for (const capability of ['transcription', 'chat', 'speech'] as const) {
    const served = opened.registry.of(capability);
    const all = served.all.filter(({ id }) => !id.endsWith('-slow'));
    Object.defineProperty(served, 'all', { value: all });
  }
  return opened;
}
