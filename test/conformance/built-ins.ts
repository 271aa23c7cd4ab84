/** The built-in engines as the kit checks them: with their programs, or with providers of the tests' own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, it } from 'vitest';
import { chatChecks, type ChatSubject } from '../../src/conformance/chat.ts';
import type { Check } from '../../src/conformance/kit.ts';
import { openerOf } from '../../src/conformance/open.ts';
import { openRecorder } from '../../src/conformance/recordings.ts';
import { speechChecks } from '../../src/conformance/speech.ts';
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
  /** Words that it understands, where those of the kit are none. */
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
  espeak: { needs: ['espeak-ng'], checks: speechChecks, options: () => Promise.resolve({}) },
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
      it.each(checks.filter(isChecked))('$name', async ({ run }) => {
        await run(subject);
      });
    });
  }
}

/** Checks that take the time. */
export const isTimed = ({ name }: Check<never>): boolean => /promptly|from memory/.test(name);
