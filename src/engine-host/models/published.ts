/** The models that an engine has published: its entries, which are validated once, and the errors in them. */
import { isDeepStrictEqual } from 'node:util';
import type { EngineError, Logger, ModelEntry } from '../../../engines/contract/index.ts';
import { checkEntry, must } from '../guard/answers.ts';
import { asError, engineErrorOf } from '../guard/failures.ts';

interface PublishedOptions {
  readonly log: Logger;
  /** True for a server that the service looks for on its own, so its absence is not a failure. */
  readonly isLookedFor?: boolean;
}

const maxEntries = 10_000;

export class PublishedModels {
  readonly #log: Logger;
  readonly #isLookedFor: boolean;
  #entries: readonly ModelEntry[] = [];
  #rejected: readonly Error[] = [];
  #failure: Error | undefined;
  #hasPublished = false;
  #hasList = false;
  #onChange = (): void => undefined;

  constructor({ log, isLookedFor = false }: PublishedOptions) {
    this.#log = log;
    this.#isLookedFor = isLookedFor;
  }

  get entries(): readonly ModelEntry[] {
    return this.#entries;
  }

  /** True once the engine has published a list, with or without a failure. */
  get hasPublished(): boolean {
    return this.#hasPublished;
  }

  /** True once the engine has published without a failure. */
  get hasList(): boolean {
    return this.#hasList;
  }

  /** Why models are missing from the list. */
  get failures(): readonly Error[] {
    const failures = this.#failure ? [this.#failure, ...this.#rejected] : this.#rejected;
    return this.#isLookedFor ? [] : failures;
  }

  /** Calls the listener after the first list without a failure, and after each change of the entries. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** `EngineContext.publish`. */
  readonly publish = (models: readonly ModelEntry[], failure?: EngineError): void => {
    const { entries, rejected } = checkAll(models);
    const isNew = textOf(rejected) !== textOf(this.#rejected);
    if (isNew) for (const err of rejected) this.#log.error({ err }, 'an entry of the engine is left out');
    this.#rejected = rejected;
    this.#fail(failure);
    const isFirstList = !failure && !this.#hasList;
    this.#hasPublished = true;
    this.#hasList ||= isFirstList;
    if (!isFirstList && isDeepStrictEqual(entries, this.#entries)) return;
    this.#entries = entries;
    this.#onChange();
  };

  #fail(failure: unknown): void {
    const err = failure === undefined ? undefined : (engineErrorOf(failure) ?? asError(failure));
    const [level, calm] = this.#isLookedFor ? (['debug', 'debug'] as const) : (['error', 'info'] as const);
    if (err && err.message !== this.#failure?.message) this.#log[level]({ err }, 'the engine cannot list its models');
    if (!err && this.#failure) this.#log[calm]({}, 'the engine lists its models again');
    this.#failure = err;
  }
}

const textOf = (errors: readonly Error[]): string => errors.map(({ message }) => message).join();

function checkAll(models: unknown): { readonly entries: readonly ModelEntry[]; readonly rejected: readonly Error[] } {
  const rejected: Error[] = [];
  const entries: ModelEntry[] = [];
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      rejected.push(asError(error)); // including errors thrown by the engine's getters
    }
  };
  attempt(() => {
    must(Array.isArray(models), 'the engine did not publish an array');
    must(models.length <= maxEntries, `the engine published more than ${maxEntries} entries`);
    for (const item of models) attempt(() => entries.push(checkEntry(item)));
  });
  return { entries, rejected };
}
