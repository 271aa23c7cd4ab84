/** The paths below /v1, as apps build them: some double slashes, some append `/v1` to a base URL that has it. */
import { ProblemError } from '../contract/problems.ts';

/** Request targets that belong to this API. */
export function isOpenAITarget(target: string): boolean {
  return /^(?:https?:\/\/[^/?#]*)?\/+v1(?:[/?#]|$)/i.test(target);
}

/**
 * Collapses slashes and drops the last one; an id with slashes becomes a single segment. Throws `not-found` for a
 * doubled `/v1`.
 */
export function readOpenAIPath(path: string): string {
  const clean = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  if (/^\/v1\/v1(?:\/|$)/.test(clean)) {
    throw new ProblemError('not-found', 'Your base URL already ends in /v1; remove one of the two.');
  }
  const hint = hintFor(clean);
  if (hint !== undefined) throw new ProblemError('not-found', `${clean} is not offered: ${hint}.`);
  const id = /^\/v1\/models\/(.+\/.+)$/.exec(clean)?.[1];
  return id === undefined ? clean : `/v1/models/${id.replaceAll('/', '%2F')}`;
}

/** Paths of OpenAI's API that apps try here. */
const elsewhere =
  /^\/v1\/(embeddings|moderations|files|images|batches|assistants|threads|realtime|fine_tuning)(?:\/|$)/;

function hintFor(path: string): string | undefined {
  if (path === '/v1/completions') return 'use /v1/chat/completions';
  if (/^\/v1\/responses\/./.test(path)) return 'responses are not stored; send the whole conversation to /v1/responses';
  return elsewhere.test(path) ? 'use another service for it' : undefined;
}
