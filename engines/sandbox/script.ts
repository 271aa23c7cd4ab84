/**
 * Parses a message into a script. The model echoes the message; lines with these prefixes do more:
 *
 *     think: TEXT            sends reasoning, before anything else
 *     read aloud: TEXT       calls the tool read_aloud
 *     call NAME {"a": 1}     calls the tool NAME; all calls of a message run concurrently
 *     call NAME "TEXT"       calls it with {"text": "TEXT"}; also: call the tool `NAME` with the text "TEXT"
 *     say: TEXT              is the whole answer, even after tool calls
 *     fail: CODE             fails with this problem code after the first words
 *
 * If the caller sends tools, only those are called.
 */
import { engineErrorCodes, type ChatCall, type EngineErrorCode, type ToolChoice } from '../contract/index.ts';

export interface Script {
  readonly reasoning: string;
  readonly calls: readonly ScriptedCall[];
  /** Replaces the echo. */
  readonly answer: string | undefined;
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
  const said = valuesOf('say:');
  return {
    reasoning: valuesOf('think:').join('\n'),
    answer: said.length === 0 ? undefined : said.join('\n'),
    calls: lines.flatMap((line) => readCall(line) ?? []),
    failure: engineErrorCodes.find((code) => valuesOf('fail:').includes(code)),
  };
}

/**
 * Returns the calls of the script that the caller's tools and tool choice allow. If the tool choice demands a call and
 * the script has none, the first allowed tool is called with `{}`.
 */
export function callsFor(
  { calls }: Script,
  { tools = [], toolChoice = 'auto', provider }: ChatCall,
): readonly ScriptedCall[] {
  if (tools.length === 0) return calls;
  const allowed = tools.filter(({ name }) => mayCall(name, toolChoice));
  const requested = calls.filter(({ name }) => allowed.some((tool) => tool.name === name));
  const demanded = toolChoice === 'auto' ? [] : allowed.slice(0, 1).map(({ name }) => ({ name, arguments: '{}' }));
  const all = requested.length > 0 ? requested : demanded;
  return provider?.parallel_tool_calls === false ? all.slice(0, 1) : all;
}

function mayCall(name: string, choice: ToolChoice): boolean {
  return typeof choice === 'string' ? choice !== 'none' : choice.name === name;
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
