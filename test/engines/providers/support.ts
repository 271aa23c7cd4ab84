/** A service whose only engine is one for an OpenAI-compatible provider, with a test provider behind it. */
import { onTestFinished } from 'vitest';
import { createApi, type Answer } from '../../support/http.ts';
import { answers, openProvider, type Behavior, type RawProvider } from '../../support/provider.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';

export const key = 'sk-very-secret-4711';
export const secret = 'internal-host-17.example';

/** An error in OpenAI's format. Its text is for the log only. */
export const openaiError = (status: number, error: object, headers?: Readonly<Record<string, string>>): Behavior =>
  answers(status, { error: { message: secret, type: 'x', param: null, code: null, ...error } }, headers);

/** Announces more of a body than it sends. */
export const stops = (status: number, body: string, contentType = 'application/json'): Behavior => {
  const head = `HTTP/1.1 ${status} Whatever\r\nContent-Type: ${contentType}\r\nContent-Length: 50\r\n\r\n`;
  return async (call) => {
    await call.body;
    call.socket.write(head + body);
  };
};

export interface Hosted {
  readonly service: TestService;
  readonly provider: RawProvider;
  /** Looks again, as the service does every 2 s. */
  recheck(): Promise<void>;
}

export interface HostedOptions extends TestServiceOptions {
  /** Options of the instance `cloud` besides `use`, `baseUrl` and `apiKey`: lines of YAML in flow style. */
  readonly engine?: string;
  readonly models?: string;
  readonly apiKey?: string;
  /** Behavior of the provider. */
  readonly readsPerSecond?: number;
}

/** The caller disposes of it. */
export async function openHosted(use: string, options: HostedOptions = {}): Promise<Hosted & AsyncDisposable> {
  const { engine = '', models = '[remote]', apiKey = key, readsPerSecond, ...rest } = options;
  const provider = await openProvider(readsPerSecond === undefined ? {} : { readsPerSecond });
  const instance = `{ use: ${use}, baseUrl: "${provider.baseUrl}", apiKey: "${apiKey}", models: ${models}, ${engine} }`;
  const service = await startTestService({ config: `engines:\n  cloud: ${instance}\n`, ...rest });
  return {
    ...{ service, provider, recheck: () => service.service.registry.recheck() },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** Disposed at the end of the test. */
export async function startHosted(use: string, behavior: Behavior, options?: HostedOptions): Promise<Hosted> {
  const hosted = await openHosted(use, options);
  onTestFinished(() => hosted[Symbol.asyncDispose]());
  hosted.provider.behave(behavior);
  return hosted;
}

export type Fields = Readonly<Record<string, unknown>>;

/** POSTs JSON below /api/v1 and validates every response against the contract. */
export const poster =
  (path: string, body: Fields) =>
  ({ url }: Pick<TestService, 'url'>, fields: Fields = {}): Promise<Answer> =>
    createApi(url).post(`/api/v1${path}`, { ...body, ...fields });
