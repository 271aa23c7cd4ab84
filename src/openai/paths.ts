/**
 * Normalizes the paths under /v1: some apps double slashes, and some append `/v1` to a base URL that already ends with
 * it.
 */
import { ProblemError } from '../contract/problems.ts';

/** Whether a request target belongs to this API. */
export function isOpenAITarget(target: string): boolean {
  return /^(?:https?:\/\/[^/?#]*)?\/+v1(?:[/?#]|$)/i.test(target);
}

/** Whether a request target is the path of the WebSocket, in any form that `readOpenAIPath` accepts. */
export function isSocketTarget(target: string): boolean {
  return /^(?:https?:\/\/[^/?#]*)?\/+v1\/+realtime\/*(?:[?#]|$)/i.test(target);
}

/**
 * Collapses repeated slashes, removes a trailing slash and encodes an id that contains slashes as one segment. Throws
 * `not-found` for a doubled `/v1`, and for known paths that are not offered.
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

/** Paths of OpenAI's API that apps request but this service does not offer. */
const elsewhere = /^\/v1\/(embeddings|moderations|files|images|batches|assistants|threads|fine_tuning)(?:\/|$)/;

/** OpenAI's live protocols other than the WebSocket at `/v1/realtime`. */
const otherLive = /^\/v1\/(live|realtime\/(calls|sessions|transcription_sessions|translations))(?:\/|$)/;

function hintFor(path: string): string | undefined {
  if (path === '/v1/completions') return 'use /v1/chat/completions';
  if (/^\/v1\/responses\/./.test(path)) return 'responses are not stored; send the whole conversation to /v1/responses';
  if (otherLive.test(path)) return 'open a WebSocket at /v1/realtime?intent=transcription';
  return elsewhere.test(path) ? 'use another service for it' : undefined;
}
