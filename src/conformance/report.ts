/** Formats results for the author of the engine: which rule is broken, how, and by which line of the author's code. */
import { EngineError } from '../../engines/contract/index.ts';
import { Nonconformance, shown, type CheckResult } from './kit.ts';

/** Prints one result at a time. A repeated explanation is printed only once. */
export function createReport(print: (line: string) => void): (result: CheckResult) => void {
  const printed = new Set<string>();
  return ({ check, failure, remark }) => {
    const word = failure !== undefined ? 'BROKEN' : remark !== undefined ? 'skipped' : 'ok';
    print(`  ${word.padEnd(7)} ${check}${remark === undefined ? '' : ` (${remark})`}`);
    if (failure === undefined) return;
    const explanation = explain(failure).join('\n          ');
    print(`          ${printed.has(explanation) ? 'same failure as above' : explanation}`);
    printed.add(explanation);
  };
}

/** Returns the message of the failure, where it was thrown, and its causes. */
export function explain(failure: unknown, above = ''): string[] {
  if (!(failure instanceof Error)) return [shown(failure)];
  const { message, cause } = failure;
  const what = failure instanceof Nonconformance ? message : `${nameOf(failure)}: ${message}`;
  const isRepeated = above !== '' && above.includes(message);
  return [
    ...(isRepeated ? [] : [above === '' ? what : `because of ${what}`]),
    ...(failure instanceof Nonconformance ? [] : placesOf(failure)),
    ...(cause === undefined ? [] : explain(cause, message)),
  ];
}

function nameOf(error: Error): string {
  return EngineError.is(error) ? `EngineError (${error.code})` : error.name;
}

/** Path fragments that identify the service's own code, which calls the engine. */
const ours = [import.meta.dirname, '/check-engine.', '/engine-host/'];
const maxPlaces = 4;

/** Returns the stack lines, excluding those of Node.js and the kit. */
function placesOf({ stack = '' }: Error): string[] {
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return places.filter((line) => !['node:', ...ours].some((fragment) => line.includes(fragment))).slice(0, maxPlaces);
}
