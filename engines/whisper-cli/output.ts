/** Reads the JSON that whisper-cli writes with `-oj`. Exit code 0 proves nothing: only a valid file is a transcript. */
import { readFile } from 'node:fs/promises';
import { EngineError, type Transcript } from '../contract/index.ts';
import { fromWhisper } from './languages.ts';

interface WhisperJson {
  readonly result: { readonly language?: string };
  readonly transcription: readonly { readonly text: string }[];
}

/** Whisper's annotations for silence. */
const notes = /\[BLANK_AUDIO\]|\[ ?Silence ?\]/gi;

/** `log` is the program's output. Throws `engine-failed` if the file is missing or invalid. */
export async function readTranscript(jsonPath: string, log: string): Promise<Transcript> {
  const fail = (cause: unknown) =>
    new EngineError('engine-failed', 'The transcription program produced no result.', {
      cause: new Error(`whisper-cli wrote no usable JSON; output: ${log.trim().slice(-2000)}`, { cause }),
    });
  let parsed: unknown;
  try {
    // whisper-cli does not escape control characters and may split a UTF-8 sequence: decode leniently, use spaces.
    // eslint-disable-next-line no-control-regex
    parsed = JSON.parse((await readFile(jsonPath, 'utf8')).replace(/[\x00-\x1f]/g, ' '));
  } catch (cause) {
    throw fail(cause);
  }
  if (!isWhisperJson(parsed)) throw fail(new Error('the JSON has an unexpected structure'));
  const text = parsed.transcription
    .map((segment) => segment.text)
    .join('')
    .replace(notes, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  // Whisper reports a language for silence too.
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
