/**
 * The body of a request, read once its operation is known: JSON is read into memory, and the recording of a form is
 * written to disk.
 */
import type { Upload } from '../../contract/operations.ts';
import type { AccountedDirectory } from '../../system/workspace.ts';
import { declaredLength, type BodySource } from './receive.ts';
import { currentCaller } from '../../request-scope.ts';
import type { ByteBudget, RefusableBody } from './body-budget.ts';
import type { RateWatch } from './min-rate.ts';
import { readJson, type JsonBody, type JsonRules } from './json-body.ts';
import { maxRecordingBytes, readForm, type Form, type FormRules } from './multipart.ts';

export interface RequestBodyOptions {
  readonly budget: ByteBudget;
  readonly arrivals: RateWatch;
  /** Timeout for receiving a JSON body, in milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Timeout for receiving a recording, in milliseconds. */
  readonly uploadTimeoutMs: number;
  readonly temporaryDirectory: () => Promise<AccountedDirectory>;
}

interface UploadRules extends FormRules {
  /**
   * Opens the directory for the file. Default: a directory that belongs to the request. `declared` is the
   * Content-Length.
   */
  readonly upload?: (declared: number | undefined) => Promise<Upload>;
}

interface RequestSource extends Pick<BodySource, 'req' | 'res' | 'signal'> {
  /** Registers a cleanup function for the end of the request. */
  readonly atEnd: (cleanup: () => unknown) => void;
}

export class RequestBody {
  readonly #source: RequestSource;
  readonly #options: RequestBodyOptions;

  constructor(source: RequestSource, options: RequestBodyOptions) {
    this.#source = source;
    this.#options = options;
  }

  json(rules: JsonRules): Promise<JsonBody> {
    const { budget, bodyTimeoutMs } = this.#options;
    return readJson(this.#within(bodyTimeoutMs), { ...rules, budget, onEnd: this.#source.atEnd });
  }

  /** Also rejects if `beforeFile` or `upload` rejects, with the same reason. */
  async form({ upload, ...rules }: UploadRules): Promise<Form> {
    const source = this.#within(this.#options.uploadTimeoutMs);
    const destination = await (upload?.(declaredLength(source.req)) ?? this.#defaultUpload());
    this.#source.atEnd(() => destination[Symbol.asyncDispose]());
    return readForm({ ...source, reserve: this.#reserve }, destination, rules);
  }

  readonly #reserve = (body: RefusableBody) => {
    const reservation = this.#options.budget.reserve(currentCaller(), body);
    this.#source.atEnd(() => reservation.release());
    return reservation;
  };

  async #defaultUpload(): Promise<Upload> {
    const directory = await this.#options.temporaryDirectory();
    const { path, account } = directory;
    return {
      path,
      account,
      maxBytes: maxRecordingBytes,
      [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
    };
  }

  #within(timeoutMs: number): BodySource {
    const { req, res, signal } = this.#source;
    return { req, res, signal, timeoutMs, arrivals: this.#options.arrivals };
  }
}
