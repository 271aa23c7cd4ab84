/**
 * What the scripted model makes of a message. It echoes; and lines that begin in one of these ways make more happen:
 *
 *     think: TEXT            it reasons, before anything else
 *     read aloud: TEXT       it calls the tool read_aloud
 *     call NAME {"a": 1}     it calls the tool of that name, all of a message at once
 *     call NAME "TEXT"       the same with {"text": "TEXT"}; "call the tool `NAME` with the text" says so, too
 *     fail: CODE             it breaks off with this problem code, after its first words
 */
import { engineErrorCodes, type EngineErrorCode } from '../contract/index.ts';

export interface Script {
  readonly reasoning: string;
  readonly calls: readonly ScriptedCall[];
  readonly failure: EngineErrorCode | undefined;
}

export interface ScriptedCall {
  readonly name: string;
  /** JSON, as it was written: a script may be wrong on purpose. */
  readonly arguments: string;
}

export function readScript(message: string): Script {
  const lines = message.split('\n');
  const said = (keyword: string) =>
    lines.filter((line) => startsWith(line, keyword)).map((line) => rest(line, keyword));
  return {
    reasoning: said('think:').join('\n'),
    calls: lines.flatMap((line) => readCall(line) ?? []),
    failure: engineErrorCodes.find((code) => said('fail:').includes(code)),
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
