/** The service that the tests of the whole contract talk to: one of their own, or one that runs already. */
import { startTestService, type TestService } from '../../support/service.ts';
import { scripted } from './engines.ts';

/**
 * The address of a running service with the scripted engines, such as a front of a fleet. TEST_FLEET=1 sets it to a front
 * and a worker in processes of their own.
 */
export const baseUrlVariable = 'TEST_BASE_URL';

export interface Reachable extends AsyncDisposable {
  readonly url: string;
  /** Absent when it runs elsewhere: its log and its files cannot be seen. */
  readonly own?: TestService;
}

export async function reachScripted(): Promise<Reachable> {
  const url = process.env[baseUrlVariable];
  if (url !== undefined) return { url, [Symbol.asyncDispose]: async () => {} };
  const own = await startTestService({ ...scripted, env: { LOG_LEVEL: 'warn' } });
  return { url: own.url, own, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
}
