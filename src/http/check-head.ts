/** The checks of a request before its API sees it. */
import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../contract/problems.ts';
import type { Access } from './access/auth.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { isProbe } from './probes.ts';
import { readRequestHead, type RequestTarget } from './request-head.ts';

export interface HeadOptions {
  readonly access: Pick<Access, 'checkSource'>;
  /** The id of this service in chains of services. */
  readonly viaId: string;
}

export function checkHead(
  req: IncomingMessage,
  request: IncomingRequest,
  { access, viaId }: HeadOptions,
): RequestTarget {
  const { host, path, query } = readRequestHead(req);
  request.record.path = path;
  if (!isProbe(path)) access.checkSource({ ...req.headers, host });
  const target = { host, path: request.api.readPath(path), query };
  if (request.scope.via?.includes(viaId)) throw new ProblemError('provider-misconfigured', loop);
  return target;
}

const loop =
  'This service is its own provider, directly or through another service: the baseUrl of one of the engines is wrong.';
