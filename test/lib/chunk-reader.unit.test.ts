import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ChunkReader } from '../../lib/chunk-reader.ts';

describe('a chunk reader', () => {
  test('reads chunks that are there, then those that come, then the end', async () => {
    const stream = new PassThrough();
    stream.write('a');
    const chunks = new ChunkReader(stream);
    expect(String(await chunks.next())).toBe('a');
    const next = chunks.next();
    stream.write('b');
    expect(String(await next)).toBe('b');
    const last = chunks.next();
    stream.end();
    expect(await last).toBeUndefined();
    expect(await chunks.next()).toBeUndefined();
  });

  test('reads nothing ahead', async () => {
    let reads = 0;
    const stream = new Readable({ highWaterMark: 1, read: () => void (reads++, stream.push('a')) });
    const chunks = new ChunkReader(stream);
    for (let count = 0; count < 100; count++) await chunks.next();
    expect(reads).toBeLessThanOrEqual(102);
    stream.destroy();
  });

  test('rejects with the error of the stream, also of an earlier one', async () => {
    const stream = new PassThrough();
    const chunks = new ChunkReader(stream);
    const next = chunks.next();
    const broken = new Error('broken');
    stream.destroy(broken);
    await expect(next).rejects.toBe(broken);
    await expect(chunks.next()).rejects.toBe(broken);
    await expect(new ChunkReader(stream).next()).rejects.toBe(broken);
  });

  test('rejects when the stream is closed before its end', async () => {
    const stream = new PassThrough();
    stream.write('lost');
    const chunks = new ChunkReader(stream);
    stream.destroy();
    await expect(chunks.next()).rejects.toThrow('closed before its end');
  });
});
