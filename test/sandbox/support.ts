/** A service in sandbox mode. */
import { afterAll, beforeAll } from 'vitest';
import { createApi, type Api } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

export interface Sandbox {
  readonly service: TestService;
  readonly api: Api;
}

/** For the tests of a file or of a `describe`. */
export function serveSandbox({ env, ...options }: TestServiceOptions = {}): Sandbox {
  let service: TestService | undefined;
  beforeAll(async () => {
    service = await startTestService({ ...options, env: { PARLANCE_SANDBOX: '1', ...env } });
  });
  afterAll(() => service?.[Symbol.asyncDispose]());
  const started = (): TestService => {
    if (!service) throw new Error('the sandbox is asked before it has started');
    return service;
  };
  return {
    get service() {
      return started();
    },
    get api() {
      return createApi(started().url);
    },
  };
}

/** A chat whose one message is these lines. */
export function saying(...lines: readonly string[]): { messages: { role: string; content: string }[] } {
  return { messages: [{ role: 'user', content: lines.join('\n') }] };
}
