/** Reports of an engine for a reader that is slower: segments wait, progress does not. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { createReports, type Report } from '../../src/transcription/stream.ts';

const segmentAt = (startMs: number, text = 'x') => ({ startMs, endMs: startMs + 1, text });

async function all(reports: AsyncIterable<Report>): Promise<Report[]> {
  const read: Report[] = [];
  for await (const report of reports) read.push(report);
  return read;
}

function codeOf(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return EngineError.is(error) ? error.code : 'another error';
  }
}

describe('places in the line', () => {
  it('are reported before everything else, only the latest to a reader that comes late', async () => {
    const reports = createReports();
    const reader = reports[Symbol.asyncIterator]();
    reports.onQueued(3);
    expect(await reader.next()).toEqual({ done: false, value: { ahead: 3 } });
    reports.onQueued(2);
    reports.onQueued(1);
    expect(await reader.next()).toEqual({ done: false, value: { ahead: 1 } });
    reports.onQueued(null);
    expect(await reader.next()).toEqual({
      done: false,
      value: { progress: { processedMs: 0, durationMs: undefined } },
    });
  });

  it('are dropped once there is something better', async () => {
    const reports = createReports();
    reports.onQueued(1);
    reports.onSegment(segmentAt(0));
    reports.onQueued(0);
    reports.onQueued(null);
    reports.end();
    expect(await all(reports)).toEqual([{ segment: segmentAt(0) }]);
  });
});

describe('reports', () => {
  it('are the segments in order and the latest progress, for a reader that comes late', async () => {
    const reports = createReports();
    for (let at = 0; at < 1000; at++) {
      reports.onSegment(segmentAt(at));
      reports.onProgress(at, 1000);
    }
    reports.end();
    const read = await all(reports);
    expect(read).toHaveLength(1001);
    expect(read.slice(0, -1)).toEqual(Array.from({ length: 1000 }, (_, at) => ({ segment: segmentAt(at) })));
    expect(read.at(-1)).toEqual({ progress: { processedMs: 999, durationMs: 1000 } });
  });

  it('are read one by one by a reader that waits', async () => {
    const reports = createReports();
    const reader = reports[Symbol.asyncIterator]();
    for (let at = 0; at < 3; at++) {
      const next = reader.next();
      reports.onProgress(at);
      expect(await next).toEqual({ done: false, value: { progress: { processedMs: at, durationMs: undefined } } });
    }
    const last = reader.next();
    reports.end();
    expect(await last).toEqual({ done: true, value: undefined });
  });

  it('after the end are dropped', async () => {
    const reports = createReports();
    reports.end();
    reports.onSegment(segmentAt(0));
    reports.onProgress(1);
    expect(await all(reports)).toEqual([]);
  });

  it('that are out of order fail the engine', () => {
    const { onSegment } = createReports();
    onSegment(segmentAt(5));
    onSegment(segmentAt(5));
    expect(codeOf(() => onSegment(segmentAt(4)))).toBe('engine-failed');
  });

  it('that are not read are bounded', async () => {
    const reports = createReports();
    const megabyte = 'x'.repeat(1_048_576);
    let count = 0;
    const report = () => codeOf(() => reports.onSegment(segmentAt(count, megabyte)));
    while (count < 100 && report() === undefined) count++;
    expect(count).toBe(15); // 16 with the allowance for each segment are too many
    // A reader makes room.
    const reader = reports[Symbol.asyncIterator]();
    await reader.next();
    await reader.next();
    await reader.next();
    expect(report()).toBeUndefined();
  });
});
