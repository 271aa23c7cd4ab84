/** The read_aloud tool. Voice and speech model come from the request or the settings, never from the model. */
import { setMaxListeners } from 'node:events';
import { EngineError, type Logger, type Tool } from '../../engines/contract/index.ts';
import type { Clips } from '../clips/store.ts';
import { problemAnswer } from '../contract/problems.ts';
import type { SelectedSpeech, SpeechModelSelector } from '../speech/speech-models.ts';
import type { ChatFacts, ToolSource } from './toolbox.ts';

export interface ReadAloudOptions {
  readonly speakers: SpeechModelSelector;
  readonly clips: Pick<Clips, 'create'>;
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
      description: `The text to read, plain text without markup, up to ${maxCharacters} characters.`,
    },
    language: {
      type: 'string',
      description: 'The language of the text as a two-letter code (ISO 639-1), such as en or de.',
    },
  },
  required: ['text'],
} as const;

export function createReadAloud({ speakers, clips, log }: ReadAloudOptions): ToolSource {
  return { toolsFor: async (chat) => Promise.resolve(toolsFor(chat)) };

  function toolsFor(chat: ChatFacts): readonly Tool[] {
    if (chat.readAloud === false) return [];
    // Unless the request names a speech model, read_aloud is omitted if speech is unavailable.
    if (chat.tts_model == null && !speakers.defaultIsAvailable()) return [];
    const pointers = { model: '/tts_model', voice: '/voice_id' };
    return [readAloud(speakers.choose({ model: chat.tts_model, voice: chat.voice_id, pointers }), chat)];
  }

  function readAloud(speaker: SelectedSpeech, { id: chat, signal }: ChatFacts): Tool {
    setMaxListeners(0, signal); // three listeners per clip
    let calls = 0;
    return {
      name: readAloudName,
      description: `Reads a text aloud to the user immediately. The voice is already selected. At most ${maxClips} calls per answer.`,
      parameters,
      async run(args, { signal: waiting, emit }) {
        const utterance = utteranceOf(args);
        calls += 1;
        if (calls > maxClips) throw toolError(`read_aloud can be called at most ${maxClips} times per answer.`);
        try {
          const audio = await speaker.speak(utterance, { signal, waiting });
          const { id, mediaType } = await clips.create(audio, { signal, id: chat });
          emit({ type: 'audio', clip: { id, mediaType } });
        } catch (error) {
          if (signal.aborted || waiting.aborted) throw error;
          log.warn({ id: chat, err: error }, 'read_aloud failed');
          throw toolError(problemAnswer(error, '').body.detail, error); // exposes only the public detail
        }
        return 'The text is being read aloud to the user now.';
      },
    };
  }
}

/** Validates the model's arguments; unknown ones are ignored. */
function utteranceOf({ text, language }: Readonly<Record<string, unknown>>) {
  if (typeof text !== 'string' || text.trim() === '') throw toolError('`text` must be a non-empty string.');
  // Checks UTF-16 code units first, because they are cheap to count.
  if (text.length > 2 * maxCharacters || Array.from(text).length > maxCharacters) {
    throw toolError(`\`text\` must have at most ${maxCharacters} characters; call read_aloud again for the rest.`);
  }
  if (language == null || language === '') return { text, format: 'mp3' } as const;
  if (typeof language !== 'string' || !/^[a-z]{2}$/.test(language)) {
    throw toolError('`language` must be a two-letter code (ISO 639-1) such as en or de, or omitted.');
  }
  return { text, language, format: 'mp3' } as const;
}

/** Creates an error whose message the model sees. */
function toolError(message: string, cause?: unknown): EngineError {
  return new EngineError('engine-failed', message, { cause });
}
