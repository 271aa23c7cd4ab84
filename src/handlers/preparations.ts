import { answer, type Handler } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import type { Services } from './dependencies.ts';

export const listPreparations: Handler<'listPreparations', Services> = async ({ source }, services) => {
  const refusal = services.refusePreparing(source, 'startPreparation');
  const data = await services.preparations.list();
  const reason = refusal ?? 'You may start preparations.';
  const { memory } = services.preparations;
  const body = { data, memory_bytes: memory, startable: refusal === undefined, reason };
  return answer({ status: 200, mediaType: 'application/json', body });
};

export const startPreparation: Handler<'startPreparation', Services> = async ({ path, source }, services) => {
  requireAllowed(services.refusePreparing(source, 'startPreparation'));
  const body = await services.preparations.start(path.id);
  const status = body.state === 'ready' ? 200 : 202;
  return answer({ status, mediaType: 'application/json', body });
};

export const stopPreparation: Handler<'stopPreparation', Services> = async ({ path, source }, services) => {
  requireAllowed(services.refusePreparing(source, 'stopPreparation'));
  const body = await services.preparations.stop(path.id);
  return answer({ status: 200, mediaType: 'application/json', body });
};

function requireAllowed(refusal: string | undefined): void {
  if (refusal !== undefined) throw new ProblemError('preparation-not-allowed', refusal);
}
