/** The body of a request, read when its operation is known: JSON into memory, a form to the disk. */
import type { AccountedDirectory } from '../system/workspace.ts';
import type { BodySource } from './body.ts';
import type { ByteBudget } from './body-budget.ts';
import type { Arrivals } from './body-pace.ts';
import { readJson, type JsonBody, type JsonRules } from './json-body.ts';
import { readForm, type Form, type FormRules } from './multipart.ts';

export interface RequestBody {
  json(rules: JsonRules): Promise<JsonBody>;
  /** Rejects with what `admitFile` rejects with. */
  form(rules: FormRules): Promise<Form>;
}

export interface RequestBodyOptions {
  readonly budget: ByteBudget;
  readonly arrivals: Arrivals;
  /** Milliseconds that a JSON body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /** Milliseconds that a recording may take to arrive. */
  readonly uploadTimeoutMs: number;
  readonly temporaryDirectory: () => Promise<AccountedDirectory>;
}

interface RequestSource extends Pick<BodySource, 'req' | 'res' | 'signal'> {
  /** Runs this when the request is over. */
  readonly atEnd: (cleanup: () => unknown) => void;
}

export function createRequestBody(
  { req, res, signal, atEnd }: RequestSource,
  options: RequestBodyOptions,
): RequestBody {
  const { budget, arrivals, bodyTimeoutMs, uploadTimeoutMs, temporaryDirectory } = options;
  const source = (timeoutMs: number): BodySource => ({ req, res, signal, timeoutMs, arrivals });
  return {
    json: (rules) => readJson(source(bodyTimeoutMs), { ...rules, budget, onEnd: atEnd }),
    async form(rules) {
      const directory = await temporaryDirectory();
      atEnd(() => directory[Symbol.asyncDispose]());
      return readForm(source(uploadTimeoutMs), directory, rules);
    },
  };
}
