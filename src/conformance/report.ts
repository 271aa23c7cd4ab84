/** A verdict as the author of the engine reads it: which rule is broken, how, and where in the author's code. */
import { EngineError } from '../../engines/contract/index.ts';
import { Nonconformance, shown, type Verdict } from './kit.ts';

/** Prints one verdict after the other; what was told before is not told again. */
export function createReport(print: (line: string) => void): (verdict: Verdict) => void {
  const told = new Set<string>();
  return ({ check, failure, remark }) => {
    print(`  ${failure === undefined ? 'ok    ' : 'BROKEN'} ${check}${remark === undefined ? '' : ` (${remark})`}`);
    if (failure === undefined) return;
    const explanation = explain(failure).join('\n         ');
    print(`         ${told.has(explanation) ? 'for the same reason' : explanation}`);
    told.add(explanation);
  };
}

/** The failure, where it comes from, and what is behind it. */
export function explain(failure: unknown, above = ''): string[] {
  if (!(failure instanceof Error)) return [shown(failure)];
  const { message, cause } = failure;
  const what = failure instanceof Nonconformance ? message : `${nameOf(failure)}: ${message}`;
  const isTold = above !== '' && above.includes(message);
  return [
    ...(isTold ? [] : [above === '' ? what : `because of ${what}`]),
    ...(failure instanceof Nonconformance ? [] : placesOf(failure)),
    ...(cause === undefined ? [] : explain(cause, message)),
  ];
}

function nameOf(error: Error): string {
  return EngineError.is(error) ? `EngineError (${error.code})` : error.name;
}

/** What calls the engine here. */
const ours = [import.meta.dirname, '/check-engine.', '/engine-host/'];
const enough = 4;

/** Lines of the stack, without those of Node.js and of the kit. */
function placesOf({ stack = '' }: Error): string[] {
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return places.filter((line) => !['node:', ...ours].some((place) => line.includes(place))).slice(0, enough);
}
