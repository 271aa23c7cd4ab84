/** What whisper-cli writes with `-oj`. Exit code 0 proves nothing: only a file that parses is a transcript. */
import { readFile } from 'node:fs/promises';
import { EngineError, type Transcript } from '../contract/index.ts';
import { fromWhisper } from './languages.ts';

interface WhisperJson {
  readonly result: { readonly language?: string };
  readonly transcription: readonly { readonly text: string }[];
}

/** Whisper's own notes about sound that is not speech. */
const notes = /\[BLANK_AUDIO\]|\[ ?Silence ?\]/gi;

/** Throws `engine-failed` when the file is missing or is not what whisper-cli writes. */
export async function readTranscript(jsonPath: string, said: string): Promise<Transcript> {
  const fail = (cause: unknown) =>
    new EngineError('engine-failed', 'The transcription program gave no result.', {
      cause: new Error(`whisper-cli wrote no usable JSON; it said: ${said.trim().slice(-2000)}`, { cause }),
    });
  let parsed: unknown;
  try {
    // It escapes no control characters and may cut a character in half: lenient UTF-8, and spaces for controls.
    // eslint-disable-next-line no-control-regex
    parsed = JSON.parse((await readFile(jsonPath, 'utf8')).replace(/[\x00-\x1f]/g, ' '));
  } catch (cause) {
    throw fail(cause);
  }
  if (!isWhisperJson(parsed)) throw fail(new Error('the JSON has another shape'));
  const text = parsed.transcription
    .map((segment) => segment.text)
    .join('')
    .replace(notes, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  // Whisper names a language for silence too.
  return { text, language: text === '' ? null : fromWhisper(parsed.result.language) };
}

function isWhisperJson(value: unknown): value is WhisperJson {
  const { result, transcription } = (value ?? {}) as { result?: unknown; transcription?: unknown };
  return (
    typeof result === 'object' &&
    result !== null &&
    Array.isArray(transcription) &&
    transcription.every((segment: unknown) => typeof (segment as { text?: unknown } | null)?.text === 'string')
  );
}
