/** Formats the log for people: one line per event, with the time, the event and its fields. */
import { shorten } from '../../lib/text.ts';
import { visible, type Paint } from './terminal.ts';

type LogFields = Readonly<Record<string, unknown>>;

/** Levels of pino. */
const warning = 40;
const failure = 50;

/** Fields that are shown elsewhere in the line, or that only programs need. */
const notShown: ReadonlySet<string> = new Set([
  ...['level', 'time', 'pid', 'hostname', 'msg', 'err', 'trace_id', 'span_id', 'id'],
]);
/** Fields omitted from the line of a request, because the beginning of the line states or implies them. */
const notShownOfRequest: ReadonlySet<string> = new Set([...notShown, 'method', 'path', 'status', 'ms', 'operation']);

const maxFactLength = 400;

/** Returns a function that converts a line of pino's JSON to a line of text. */
export function createLogLines(paint: Paint): (json: string) => string {
  return (json) => {
    const facts = JSON.parse(json) as LogFields;
    const level = typeof facts.level === 'number' ? facts.level : 0;
    const request = describeRequest(facts, paint);
    const words = [
      paint('dim', timeOf(facts.time)),
      ...describeLevel(level, paint),
      request ?? describeEvent(facts),
      paint('dim', listFacts(facts, request === undefined ? notShown : notShownOfRequest)),
      // The caller's response contains the same id.
      ...(isFailed(facts, level) && isText(facts.id) ? [paint('dim', `id=${quoted(facts.id)}`)] : []),
    ];
    const line = words.filter((word) => word !== '').join(' ');
    return `${[line, ...(level >= failure ? stackOf(facts.err) : []).map((place) => paint('dim', place))].join('\n')}\n`;
  };
}

/** Returns the line as JSON, with control characters escaped for terminals. pino escapes only the C0 controls. */
export function harmlessJson(json: string): string {
  return `${visible(json.replace(/\n$/, ''))}\n`;
}

function timeOf(time: unknown): string {
  const date = new Date(typeof time === 'number' ? time : Date.now());
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 'hh:mm:ss'.length);
}

function describeLevel(level: number, paint: Paint): string[] {
  if (level >= failure) return [paint('red', 'error')];
  if (level >= warning) return [paint('yellow', 'warning')];
  return [];
}

function describeRequest({ msg, method, path, status, ms }: LogFields, paint: Paint): string | undefined {
  if (msg !== 'request' || typeof status !== 'number' || typeof ms !== 'number') return undefined;
  const style = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  return [visible(`${String(method)} ${String(path)}`), paint(style, String(status)), describeDuration(ms)].join(' ');
}

const isFailed = ({ status }: LogFields, level: number) =>
  level >= warning || (typeof status === 'number' && status >= 400);

function describeEvent({ msg, err }: LogFields): string {
  const message = isText(msg) ? msg : '';
  const why = messageOf(err);
  return indented(why === '' ? message : `${message}: ${why}`);
}

/** `err` usually has the shape that src/log.ts produces, but an engine may log any value under this name. */
function messageOf(err: unknown): string {
  if (typeof err === 'object' && err !== null && 'message' in err && isText(err.message)) return err.message;
  return err === undefined ? '' : shorten(JSON.stringify(err), maxFactLength);
}

function stackOf(err: unknown): string[] {
  if (typeof err !== 'object' || err === null || !('stack' in err) || !isText(err.stack)) return [];
  const isPlace = (line: string) => /^ {4}at |^caused by: /.test(line);
  return err.stack
    .split('\n')
    .filter(isPlace)
    .map((line) => `    ${visible(line.trim())}`);
}

/** Indents the message, so that none of its lines looks like a line of the log. */
const indented = (text: string) => visible(text).replaceAll('\n', '\n    ');

function listFacts(facts: LogFields, hidden: ReadonlySet<string>): string {
  return Object.entries(facts)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => describeFact(name, value))
    .join(' ');
}

function describeFact(name: string, value: unknown): string {
  const [, plain] = /^(\w+)_ms$/.exec(name) ?? [];
  if (plain !== undefined && typeof value === 'number') return `${plain}=${quoted(describeDuration(value))}`;
  return `${quoted(name)}=${quoted(isText(value) ? value : JSON.stringify(value))}`;
}

/** Quotes a value that could be mistaken for another field. */
function quoted(text: string): string {
  const short = shorten(text, maxFactLength);
  return visible(/^[^\s="]+$/.test(short) || /^[[{]/.test(short) ? short : JSON.stringify(short)).replaceAll('\n', ' ');
}

const isText = (value: unknown): value is string => typeof value === 'string';

const second = 1_000;
const minute = 60 * second;

export function describeDuration(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  return `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / second)} s`;
}
