/** Serves the transcription jobs of this front to other fronts, on the fleet port. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toJsonLine } from '../../lib/json-lines.ts';
import { ProblemError } from '../contract/problems.ts';
import type { TranscriptionEvent } from '../jobs/events.ts';
import type { Jobs } from '../jobs/store.ts';
import { closeSignal, end } from './clip-port.ts';
import type { FleetTimeouts } from './timeouts.ts';

export const jobsPath = '/fleet/v1/jobs/';

/**
 * `GET <job>?wait=` (milliseconds) answers with the job, and `GET <job>/events?after=&request=` with one line per
 * event, interleaved with heartbeats. `DELETE <job>` answers 204. `key` is the name of the caller's API key, absent in
 * open mode. 404: the caller has no such job; 503: this front cannot read its jobs.
 */
export async function serveJob(
  req: IncomingMessage,
  res: ServerResponse,
  own: Jobs | undefined,
  timeouts: FleetTimeouts,
): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? '', 'http://fleet');
  const [, id = '', events] = /^\/fleet\/v1\/jobs\/([\w.-]{1,128})(\/events)?$/.exec(pathname) ?? [];
  const [reader, signal] = [searchParams.get('key'), closeSignal(res)];
  const numberOf = (name: string) => Number(searchParams.get(name) ?? 0);
  if (!own) return end(res, 503);
  try {
    if (req.method === 'DELETE') {
      await own.remove(id, reader);
      return end(res, 204);
    }
    if (req.method !== 'GET') return end(res, 405);
    if (events === undefined) {
      const view = await own.view(id, { reader, waitMs: numberOf('wait'), signal });
      return void res.setHeader('Content-Type', 'application/json').end(JSON.stringify(view));
    }
    const requestId = searchParams.get('request') ?? '';
    await send(res, await own.events(id, { reader, after: numberOf('after'), signal, requestId }), timeouts);
  } catch (error) {
    if (res.headersSent || !(error instanceof ProblemError)) throw error;
    end(res, error.code === 'transcription-not-found' ? 404 : 503);
  }
}

/** The other front sends nothing, and closes the connection when its caller disconnects. */
async function send(res: ServerResponse, events: AsyncIterable<TranscriptionEvent>, { signMs }: FleetTimeouts) {
  res.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).flushHeaders();
  const signs = setInterval(() => {
    if (!res.writableEnded) res.write(toJsonLine({ type: 'alive' }));
  }, signMs);
  const lines = async function* () {
    for await (const event of events) yield toJsonLine(event);
  };
  await pipeline(Readable.from(lines()), res).finally(() => clearInterval(signs));
}
