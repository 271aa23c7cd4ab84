/**
 * Parses a message into a script. The model echoes the message; lines with these prefixes do more:
 *
 *     think: TEXT            sends reasoning, before anything else
 *     read aloud: TEXT       calls the tool read_aloud
 *     call NAME {"a": 1}     calls the tool NAME; all calls of a message run concurrently
 *     call NAME "TEXT"       the same with {"text": "TEXT"}; also: call the tool `NAME` with the text "TEXT"
 *     fail: CODE             fails with this problem code after the first words
 */
import { engineErrorCodes, type EngineErrorCode } from '../contract/index.ts';

export interface Script {
  readonly reasoning: string;
  readonly calls: readonly ScriptedCall[];
  readonly failure: EngineErrorCode | undefined;
}

export interface ScriptedCall {
  readonly name: string;
  /** Passed through unparsed: a script may contain invalid JSON on purpose. */
  readonly arguments: string;
}

export function readScript(message: string): Script {
  const lines = message.split('\n');
  const valuesOf = (keyword: string) =>
    lines.filter((line) => startsWith(line, keyword)).map((line) => rest(line, keyword));
  return {
    reasoning: valuesOf('think:').join('\n'),
    calls: lines.flatMap((line) => readCall(line) ?? []),
    failure: engineErrorCodes.find((code) => valuesOf('fail:').includes(code)),
  };
}

function readCall(line: string): ScriptedCall | undefined {
  if (startsWith(line, 'read aloud:')) {
    return { name: 'read_aloud', arguments: JSON.stringify({ text: rest(line, 'read aloud:') }) };
  }
  const [, name, json] = /^call (?:the tool )?`?([\w-]+)`?(?: with the text)? (\{.*|"[^"]*".*)$/i.exec(line) ?? [];
  if (name === undefined || json === undefined) return undefined;
  const [, text] = /^"([^"]*)"/.exec(json) ?? [];
  return { name, arguments: text === undefined ? json : JSON.stringify({ text }) };
}

function startsWith(line: string, keyword: string): boolean {
  return line.toLowerCase().startsWith(keyword);
}

function rest(line: string, keyword: string): string {
  return line.slice(keyword.length).trim();
}
