/** The options of the sandbox. The schema describes them for the documentation. */
import { engineErrorCodes, OptionsError, type EngineErrorCode } from '../contract/index.ts';
import { readScript, type Script } from './script.ts';

export interface Options {
  readonly answers?: readonly Answer[];
  readonly recordings?: string;
}

interface Answer {
  readonly contains: string;
  readonly say?: string;
  readonly call?: string;
  readonly fail?: EngineErrorCode;
}

export const optionsSchema = {
  type: 'object',
  properties: {
    recordings: {
      type: 'string',
      minLength: 1,
      description:
        'Transcription: a folder with recordings of your own. Beside each lies its transcript, with the same name and the ending .vtt, .srt or .txt.',
    },
    answers: {
      type: 'array',
      description:
        'Chat: what to answer to a message that contains a text, for prompts that an app writes itself. The first match wins.',
      items: {
        type: 'object',
        properties: {
          contains: {
            type: 'string',
            minLength: 1,
            description: 'A part of the last user message. Upper and lower case count.',
          },
          say: { type: 'string', description: 'The whole answer.' },
          call: { type: 'string', description: 'A tool call, such as `weather {"city": "Paris"}`.' },
          fail: { type: 'string', enum: engineErrorCodes, description: 'The code with which the answer fails.' },
        },
        required: ['contains'],
        minProperties: 2,
        maxProperties: 2,
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

/**
 * Returns a function that returns the script for a message that matches one of the answers, or else undefined. Throws
 * an `OptionsError` for useless answers.
 */
export function readAnswers({ answers = [] }: Options): (message: string) => Script | undefined {
  const scripts = answers.map(({ contains, say, call, fail }, index) => {
    const earlier = answers.slice(0, index).find((other) => contains.includes(other.contains));
    if (earlier) throw useless(index, `never matches, because answers with "${earlier.contains}" come first`);
    const script = readScript(call === undefined ? `fail: ${fail ?? ''}` : `call ${call}`);
    if (call !== undefined && script.calls.length === 0) throw useless(index, 'must call NAME {"argument": "value"}');
    return { contains, script: say === undefined ? script : { ...script, answer: say } };
  });
  return (message) => scripts.find(({ contains }) => message.includes(contains))?.script;
}

function useless(index: number, detail: string): OptionsError {
  return new OptionsError(`answers[${String(index)}] ${detail}`);
}
