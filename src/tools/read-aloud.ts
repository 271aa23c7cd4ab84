/** The tool by which a model reads aloud. Who speaks is the caller's choice and the settings', never the model's. */
import { setMaxListeners } from 'node:events';
import { EngineError, type Logger, type Tool } from '../../engines/contract/index.ts';
import type { ClipStore } from '../clips/store.ts';
import { problemAnswer } from '../contract/problems.ts';
import type { Speaker, Speakers } from '../speech/speaker.ts';
import type { ChatFacts, ToolSource } from './toolbox.ts';

export interface ReadAloudOptions {
  readonly speakers: Speakers;
  readonly clips: ClipStore;
  readonly log: Logger;
}

export const readAloudName = 'read_aloud';

const maxCharacters = 32_000;
const maxClips = 16;

const parameters = {
  type: 'object',
  properties: {
    text: {
      type: 'string',
      minLength: 1,
      maxLength: maxCharacters,
      description: `What to say, as plain text without markup, up to ${maxCharacters} characters.`,
    },
    language: {
      type: 'string',
      description: 'The language of the text as a two-letter code (ISO 639-1), such as en or de.',
    },
  },
  required: ['text'],
} as const;

export function createReadAloud({ speakers, clips, log }: ReadAloudOptions): ToolSource {
  return {
    async toolsFor(chat) {
      // Without a wish of the caller's, a chat goes on without speech where there is none.
      if (chat.tts_model == null && !(await speakers.defaultIsAvailable())) return [];
      const speaker = await speakers.choose({
        model: chat.tts_model,
        voice: chat.voice_id,
        pointers: { model: '/tts_model', voice: '/voice_id' },
      });
      return [readAloud(speaker, chat)];
    },
  };

  function readAloud(speaker: Speaker, { id: chat, signal }: ChatFacts): Tool {
    setMaxListeners(0, signal); // three for each clip
    let calls = 0;
    return {
      name: readAloudName,
      description: `Reads a text aloud to the user, who hears it at once. The voice is chosen already. At most ${maxClips} times in an answer.`,
      parameters,
      async run(args, { signal: waiting, emit }) {
        const words = wordsOf(args);
        calls += 1;
        if (calls > maxClips) throw refusal(`read_aloud can be called at most ${maxClips} times in an answer.`);
        try {
          const audio = await speaker.speak(words, { signal, waiting });
          const { id, mediaType } = await clips.create(audio, { signal, id: chat });
          emit({ type: 'audio', clip: { id, mediaType } });
        } catch (error) {
          if (signal.aborted || waiting.aborted) throw error;
          log.warn({ id: chat, err: error }, 'read_aloud failed');
          throw refusal(problemAnswer(error, '').body.detail, error); // what a caller may read, a model may
        }
        return 'The text is being read aloud to the user now.';
      },
    };
  }
}

/** The model's arguments, checked; it may put in others, which decide nothing. */
function wordsOf({ text, language }: Readonly<Record<string, unknown>>) {
  if (typeof text !== 'string' || text.trim() === '') throw refusal('`text` must be a text that is not empty.');
  // Its UTF-16 units come first: they are cheap to count.
  if (text.length > 2 * maxCharacters || Array.from(text).length > maxCharacters) {
    throw refusal(`\`text\` must have at most ${maxCharacters} characters; call read_aloud again for the rest.`);
  }
  if (language == null || language === '') return { text, format: 'mp3' } as const;
  if (typeof language !== 'string' || !/^[a-z]{2}$/.test(language)) {
    throw refusal('`language` must be a two-letter code (ISO 639-1) such as en or de, or be left out.');
  }
  return { text, language, format: 'mp3' } as const;
}

/** The model reads the message. */
function refusal(message: string, cause?: unknown): EngineError {
  return new EngineError('engine-failed', message, { cause });
}
