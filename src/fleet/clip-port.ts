/** Serves the clips of this front to other fronts, on the fleet port. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clip, WholeClip } from '../clips/clip.ts';
import type { Clips } from '../clips/store.ts';

export const clipsPath = '/fleet/v1/clips/';

/**
 * The body of `GET <clip>`, the current state of the clip. `GET <clip>/settled` answers 204 when `Clip.settled`
 * resolves. `GET <clip>/audio/<first>-<last>` answers with the bytes, up to the end if `last` is omitted. `DELETE
 * <clip>` answers 204.
 */
export interface ClipDocument {
  readonly mediaType: Clip['mediaType'];
  /** Absent until the clip is complete. */
  readonly whole?: WholeClip;
}

const pathPattern = /^\/fleet\/v1\/clips\/([\w.-]{1,128})(?:\/(settled)|\/audio\/(\d{1,15})-(\d{0,15}))?$/;

/** `own`: the clips of this process, without those of other fronts. */
export async function serveClip(req: IncomingMessage, res: ServerResponse, own: Clips | undefined): Promise<void> {
  const { method, url = '' } = req;
  const [, id = '', settled, first, last = ''] = pathPattern.exec(url) ?? [];
  const signal = closeSignal(res);
  if (method === 'DELETE') return end(res, (await own?.remove(id)) === true ? 204 : 404);
  const clip = await own?.find(id, signal);
  if (clip === undefined) return end(res, 404);
  if (method === 'GET' && settled !== undefined) {
    await clip.settled(signal);
    return end(res, 204);
  }
  if (method === 'GET' && first !== undefined) {
    const part = { first: Number(first), ...(last !== '' && { last: Number(last) }) };
    res.writeHead(200, { 'Content-Type': 'application/octet-stream' }).flushHeaders();
    return pipeline(Readable.from(clip.read(part, signal), { objectMode: false }), res);
  }
  if (method !== 'GET') return end(res, 405);
  const document: ClipDocument = { mediaType: clip.mediaType, ...(clip.whole && { whole: clip.whole }) };
  res.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
}

/** Aborts when the other front has closed the connection. */
export function closeSignal(res: ServerResponse): AbortSignal {
  const left = new AbortController();
  res.once('close', () => left.abort(new Error('the other front has closed the connection')));
  return left.signal;
}

export function end(res: ServerResponse, status: number): void {
  res.writeHead(status).end();
}
