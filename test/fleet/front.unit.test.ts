/** A front against a queue and workers that are objects: what Redis loses and workers drop, it places again. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EngineError, type TimedText, type TranscriptionOptions } from '../../engines/contract/index.ts';
import { createFront } from '../../src/fleet/front.ts';
import { runInScope, type RequestUsage } from '../../src/request-scope.ts';
import type { WorkerConnection, WorkerMessage } from '../../src/fleet/call-protocol.ts';
import { fleetTimeouts } from '../../src/fleet/timeouts.ts';
import type { QueuePosition, TicketQueue } from '../../src/fleet/redis.ts';
import { sealTicket, type Ticket } from '../../src/fleet/ticket.ts';

const call = { recording: { path: '/r', bytes: 3, container: 'wav', mediaType: 'audio/wav' }, model: 'm' } as const;
const transcript = { text: 'Hello.', language: 'en' };
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start({ absentMs = 0, workers = ['a', 'b', 'c', 'd'] } = {}) {
  const jobs = new Map<string, Ticket>();
  const state = { shares: 0, isAway: false, placeOf: (_jobId: string): QueuePosition => 0 };
  const ask = <T>(command: () => T): Promise<T> =>
    state.isAway ? Promise.reject(new Error('Redis is unavailable')) : Promise.resolve(command());
  const queue: TicketQueue = {
    add: (jobId, ticket) => ask(() => void jobs.set(jobId, ticket)),
    remove: (jobId) => ask(() => void jobs.delete(jobId)),
    positionsOf: (ids) => ask(() => ids.map((id) => (jobs.has(id) ? state.placeOf(id) : 'lost'))),
  };
  const front = createFront({
    nodes: { absentMs: () => absentMs, workersOf: () => workers },
    admissions: {
      admit: () => ask(() => ({ priority: (state.shares += 1), [Symbol.dispose]: () => void (state.shares -= 1) })),
    },
    queueOf: () => queue,
    ticketFor: (id, returnedBy) => sealTicket('secret', id, 0, returnedBy),
    viaId: () => 'this',
    timeouts: fleetTimeouts,
    log: silent,
  });
  onTestFinished(() => front[Symbol.dispose]());
  const caller = new AbortController();
  const transcribe = (options: Partial<TranscriptionOptions> = {}) => {
    const answer = front.transcribe('local', call, { signal: caller.signal, ...options });
    answer.catch(() => {});
    return answer;
  };
  /** Takes the newest ticket as a worker does. */
  const take = async (...messages: readonly WorkerMessage[]) => {
    await vi.advanceTimersByTimeAsync(0);
    const [jobId, ticket] = [...jobs].at(-1)!;
    jobs.delete(jobId);
    const open = front.find(ticket.url)!;
    open.take(lineOf(messages));
    await vi.advanceTimersByTimeAsync(0);
    return open;
  };
  return { front, jobs, state, caller, transcribe, take };
}

/** A worker that sends these and is then gone. */
function lineOf(messages: readonly WorkerMessage[]): WorkerConnection {
  return {
    messages: Readable.from(messages) as AsyncIterable<WorkerMessage>,
    end: () => {},
    cut: () => {},
  };
}

const second = (seconds = 1) => vi.advanceTimersByTimeAsync(seconds * 1000);

describe('a call', () => {
  it('becomes one ticket with an unguessable address and nothing else', async () => {
    const { jobs, transcribe, take } = start();
    const answer = transcribe();
    await second(0);
    const [[jobId, ticket]] = [...jobs] as [[string, Ticket]];
    expect(ticket.url).toMatch(/^[\w-]{22}$/);
    expect(jobId, 'messages of BullMQ have it').not.toContain(ticket.url);
    expect(Object.keys(ticket)).toEqual(['v', 'url', 'expires', 'mac', 'returnedBy']);
    const { document, recordingPath } = await take({ type: 'result', transcript });
    expect(await answer).toEqual(transcript);
    expect(recordingPath).toBe('/r');
    expect(document).toEqual({
      instance: 'local',
      call: { model: 'm' },
      recording: { bytes: 3, container: 'wav', mediaType: 'audio/wav' },
      scope: { caller: '', via: ['this'] },
      segments: false,
    });
  });

  it('is not charged for what the worker says is not in the recording', async () => {
    const { transcribe, take } = start();
    const usage: RequestUsage = {};
    const answer = runInScope({ caller: 'one', usage }, transcribe);
    await second(0);
    await take({ type: 'result', transcript, gapMs: 10_000 });
    await answer;
    expect(usage.gapMs).toBe(10_000);
  });

  it('is queued again when Redis has lost its ticket, or a worker has taken the ticket and disappeared', async () => {
    const { jobs, state, transcribe, take } = start();
    const answer = transcribe();
    await second(0);
    jobs.clear();
    await second();
    expect(jobs.size).toBe(1);
    state.placeOf = () => 'taken';
    await second(4);
    expect(jobs.size).toBe(1);
    await second(1);
    expect(jobs.size).toBe(2);
    await take({ type: 'result', transcript });
    expect(await answer).toEqual(transcript);
  });

  it('leaves the queue when its caller disconnects, and its address becomes invalid', async () => {
    const { front, jobs, state, caller, transcribe } = start();
    const answer = transcribe();
    await second(0);
    const [ticket] = [...jobs.values()];
    caller.abort(new Error('the caller is gone'));
    await expect(answer).rejects.toThrow('the caller is gone');
    expect([jobs.size, state.shares]).toEqual([0, 0]);
    expect(front.find(ticket!.url)).toBeUndefined();
  });

  it('that times out in the queue fails with overloaded', async () => {
    const { caller, transcribe } = start();
    const answer = transcribe();
    await second(0);
    caller.abort(new EngineError('engine-timeout', 'Too late.'));
    await expect(answer).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('that times out after workers could not take it does not report a full queue', async () => {
    const { front, jobs, caller, transcribe } = start();
    const answer = transcribe();
    await second(0);
    const [ticket] = [...jobs.values()];
    front.find(ticket!.url)!.refuse();
    caller.abort(new EngineError('engine-timeout', 'Too late.'));
    await expect(answer).rejects.toMatchObject({ code: 'model-unavailable', retryAfter: 30 });
  });

  it('fails with overloaded at once when Redis is unavailable', async () => {
    const { state, transcribe } = start();
    state.isAway = true;
    await expect(transcribe()).rejects.toMatchObject({ code: 'overloaded', retryAfter: 5 });
  });

  it('waits for Redis when its worker is lost during an outage', async () => {
    const { jobs, state, transcribe, take } = start();
    const answer = transcribe();
    await second(0);
    state.isAway = true;
    await take({ type: 'alive' });
    await second(10);
    expect(jobs.size).toBe(0);
    state.isAway = false;
    await second();
    await take({ type: 'result', transcript });
    expect(await answer).toEqual(transcript);
  });

  it('fails after three lost workers', async () => {
    const { transcribe, take } = start();
    const lost = transcribe();
    for (let worker = 0; worker < 3; worker++) await take({ type: 'alive' });
    await expect(lost).rejects.toMatchObject({ code: 'engine-failed' });
  });

  const full = (worker?: string): WorkerMessage => ({
    type: 'returned',
    code: 'storage-full',
    message: 'Full.',
    worker,
  });

  it.each([
    ['three workers have handed it back', ['a', 'a', 'b', 'a', 'c'], ['a', 'b', 'c', 'd']],
    ['all workers that are there have handed it back', ['a', 'a', 'b'], ['a', 'b']],
    ['three workers have handed it back because they stop', [undefined, undefined, undefined], ['a']],
  ])('fails when %s', async (_what, returning, workers) => {
    const { transcribe, take } = start({ workers });
    const answer = transcribe();
    for (const worker of returning) await take(full(worker));
    await expect(answer).rejects.toMatchObject({ code: 'storage-full', message: 'Full.' });
  });

  it('waits for a free worker while another one keeps returning it; the ticket names that one', async () => {
    const { jobs, transcribe, take } = start({ workers: ['full', 'busy'] });
    const answer = transcribe();
    for (let times = 0; times < 5; times++) await take(full('full'));
    await second(0);
    expect([...jobs.values()].at(-1)).toMatchObject({ returnedBy: ['full'] });
    await take({ type: 'result', transcript });
    expect(await answer).toEqual(transcript);
  });

  it('fails after 30 s without any worker', async () => {
    const { transcribe } = start({ absentMs: 40_000 });
    const answer = transcribe();
    const failure = expect(answer).rejects.toMatchObject({ code: 'model-unavailable', retryAfter: 30 });
    await second(31);
    await failure;
  });

  it('waits longer when there are workers', async () => {
    const { transcribe, take } = start({ absentMs: 1_000 });
    const answer = transcribe();
    await second(300);
    await take({ type: 'result', transcript });
    expect(await answer).toEqual(transcript);
  });

  it('reports its position in the queue, and then the reports of the worker without duplicates', async () => {
    const { state, transcribe, take } = start();
    const reports: unknown[] = [];
    state.placeOf = () => 3;
    const part = (startMs: number): TimedText => ({ startMs, endMs: startMs + 10, text: String(startMs) });
    const answer = transcribe({
      onQueued: (ahead) => reports.push(ahead),
      onSegment: ({ startMs }) => reports.push(`segment ${startMs}`),
      onProgress: (ms) => reports.push(`progress ${ms}`),
    });
    await second(2);
    await take({ type: 'segment', segment: part(0) }, { type: 'segment', segment: part(10) });
    const again = [0, 10, 20].map((ms): WorkerMessage => ({ type: 'segment', segment: part(ms) }));
    await take(...again, { type: 'progress', processedMs: 30 }, { type: 'result', transcript });
    await answer;
    expect(reports).toEqual([3, null, 'segment 0', 'segment 10', 'segment 20', 'progress 30']);
  });

  it('also reports its position in the queue of the engine', async () => {
    const { transcribe, take } = start();
    const reports: unknown[] = [];
    const answer = transcribe({ onQueued: (ahead) => reports.push(ahead) });
    await take({ type: 'queued', ahead: 2 }, { type: 'queued', ahead: null }, { type: 'result', transcript });
    await answer;
    expect(reports).toEqual([2, null]);
  });
});
