/** Clips of other fronts, whose owner answers what the test says. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shareClips } from '../../src/fleet/clips.ts';
import { fleetTimeouts } from '../../src/fleet/timeouts.ts';
import type { Clips } from '../../src/clips/store.ts';
import type { HttpResponse } from '../../lib/http-client.ts';

const id = `01234567.${'A'.repeat(22)}`;
const signal = new AbortController().signal;
const whole = { bytes: 10, etag: `"${'e'.repeat(43)}"` };
const description = { mediaType: 'audio/mpeg', whole };
const unreachable = { code: 'overloaded', headers: { 'Retry-After': '5' } };

const own = {
  create: () => Promise.reject(new Error('not here')),
  find: vi.fn(() => undefined),
  remove: vi.fn(() => Promise.resolve(true)),
} satisfies Clips;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Reply = readonly [statusCode: number, body?: string | object | Readable];

/** `reply` is asked for `METHOD path`; a promise that never resolves is an owner that says nothing. */
function share(reply: (asked: string) => Reply | Promise<Reply>, address: () => Promise<string | undefined> = known) {
  const asked: string[] = [];
  async function request(url: string, { method, signal }: { method: string; signal: AbortSignal }) {
    const { pathname } = new URL(url);
    asked.push(`${method} ${pathname}`);
    const [statusCode, body = ''] = await reply(`${method} ${pathname.replace(`/fleet/v1/clips/${id}`, '') || '/'}`);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const stream = body instanceof Readable ? body : Readable.from([Buffer.from(text)]);
    signal.addEventListener('abort', () => stream.destroy(signal.reason as Error));
    return { statusCode, headers: {}, body: stream } satisfies HttpResponse;
  }
  const fleet = {
    tag: '89abcdef',
    addressOf: address,
    http: { request },
    sign: () => 'signed',
    timeouts: fleetTimeouts,
  };
  return { clips: shareClips(own, fleet), asked };
}

const known = () => Promise.resolve('http://10.0.0.5:8485');

async function textOf(audio: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of audio) text += Buffer.from(piece).toString();
  return text;
}

describe('a clip of another front', () => {
  it('has the properties reported by its owner', async () => {
    const { clips, asked } = share((what) => (what === 'GET /' ? [200, description] : [200, '0123456789']));
    const clip = (await clips.find(id, signal))!;
    expect(clip).toMatchObject({ id, ...description });
    expect(await textOf(clip.read({ first: 0 }, signal))).toBe('0123456789');
    expect(asked).toEqual([`GET /fleet/v1/clips/${id}`, `GET /fleet/v1/clips/${id}/audio/0-`]);
  });

  it.each([
    ['no JSON', 'hello'],
    ['another media type', { ...description, mediaType: 'text/html' }],
    ['more than a description', { ...description, more: 'x'.repeat(2_000) }],
  ])('cannot be reached where the answer is %s', async (_what, body) => {
    const { clips } = share(() => [200, body]);
    await expect(clips.find(id, signal)).rejects.toMatchObject(unreachable);
  });

  it('is rejected if its length cannot be a header', async () => {
    for (const odd of [{ ...whole, etag: '"a"\r\nb: c' }, { ...whole, bytes: -1 }, { bytes: 3 }, 'whole']) {
      const { clips } = share(() => [200, { mediaType: 'audio/wav', whole: odd }]);
      expect((await clips.find(id, signal))?.whole).toBeUndefined();
    }
  });

  it.each([
    ['more', '0123456789ABCDEF'],
    ['less', '01234'],
  ])('breaks when %s comes than was announced', async (_what, bytes) => {
    const { clips } = share((what) => (what === 'GET /' ? [200, description] : [200, bytes]));
    const clip = (await clips.find(id, signal))!;
    await expect(textOf(clip.read({ first: 0 }, signal))).rejects.toMatchObject(unreachable);
    await expect(textOf(clip.read({ first: 2, last: 4 }, signal))).rejects.toMatchObject(unreachable);
  });

  it('fails as deleted when its owner no longer has it', async () => {
    const replies: Reply[] = [
      [200, description],
      [200, '01'],
      [404, ''],
    ];
    const { clips } = share(() => replies.shift()!);
    const clip = (await clips.find(id, signal))!;
    await expect(textOf(clip.read({ first: 0 }, signal))).rejects.toMatchObject({ code: 'clip-not-found' });
  });

  it.each([500, 401, 302])('cannot be reached when its owner answers %d', async (status) => {
    const { clips } = share(() => [status]);
    await expect(clips.find(id, signal)).rejects.toMatchObject(unreachable);
    await expect(clips.remove(id)).rejects.toMatchObject(unreachable);
  });

  it('is deleted by one request to its owner', async () => {
    const { clips, asked } = share(() => [204]);
    expect(await clips.remove(id)).toBe(true);
    expect(asked).toEqual([`DELETE /fleet/v1/clips/${id}`]);
  });

  it.each([404, 500])('cannot be reached when its owner answers %d and does not end', async (status) => {
    const body = new Readable({ read: () => void body.push('more'.repeat(100)) });
    const { clips } = share(() => [status, body]);
    await expect(clips.find(id, signal)).rejects.toMatchObject(unreachable);
    expect(body.destroyed).toBe(true);
  });

  it('cannot be reached when its owner is silent', async () => {
    const { clips } = share((what) => (what === 'GET /audio/0-' ? [200, new Readable({ read: () => {} })] : silence()));
    const found = expect(clips.find(id, signal)).rejects.toMatchObject(unreachable);
    const removed = expect(clips.remove(id)).rejects.toMatchObject(unreachable);
    await vi.advanceTimersByTimeAsync(fleetTimeouts.silenceMs);
    await Promise.all([found, removed]);
  });

  it('cannot be reached when its owner stops in the middle', async () => {
    let stalled = false;
    const { clips } = share((what) => {
      if (what === 'GET /audio/0-') return [200, new Readable({ read: () => void (stalled = true) })];
      return [200, { mediaType: 'audio/mpeg' }];
    });
    const clip = (await clips.find(id, signal))!;
    const read = expect(textOf(clip.read({ first: 0 }, signal))).rejects.toMatchObject(unreachable);
    await vi.advanceTimersByTimeAsync(fleetTimeouts.clipMs);
    await read;
    expect(stalled).toBe(true);
  });

  it('is not read faster than its reader reads', async () => {
    let pieces = 0;
    const body = new Readable({ highWaterMark: 1, read: () => void body.push(Buffer.from(`${(pieces += 1)}`)) });
    const { clips } = share((what) => [200, what === 'GET /' ? { mediaType: 'audio/mpeg' } : body]);
    const audio = (await clips.find(id, signal))!.read({ first: 0 }, signal);
    await audio.next();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(pieces).toBeLessThan(5);
    await audio.return(undefined);
    expect(body.destroyed).toBe(true);
  });

  it('ends with the request of its caller', async () => {
    const body = new Readable({ read: () => {} });
    const { clips } = share((what) => [200, what === 'GET /' ? { mediaType: 'audio/mpeg' } : body]);
    const caller = new AbortController();
    const clip = (await clips.find(id, caller.signal))!;
    const read = expect(textOf(clip.read({ first: 0 }, caller.signal))).rejects.toThrow('left');
    await vi.advanceTimersByTimeAsync(0);
    caller.abort(new Error('left'));
    await read;
    expect(body.destroyed).toBe(true);
  });
});

describe('a clip that is nowhere', () => {
  it.each([
    ['without a tag', 'A'.repeat(22)],
    ['of this front', `89abcdef.${'A'.repeat(22)}`],
    ['with an address for a tag', `10.0.0.5.${'A'.repeat(22)}`],
    ['with more than one tag', `01234567.01234567.${'A'.repeat(22)}`],
  ])('is looked for here alone: an id %s', async (_what, odd) => {
    const { clips, asked } = share(() => [200, description]);
    expect(await clips.find(odd, signal)).toBeUndefined();
    expect(own.find).toHaveBeenLastCalledWith(odd, signal);
    expect(asked).toEqual([]);
  });

  it('is not found when there is no such front, or the front does not have it', async () => {
    const nobody = share(
      () => [200, description],
      () => Promise.resolve(undefined),
    );
    expect(await nobody.clips.find(id, signal)).toBeUndefined();
    expect(nobody.asked).toEqual([]);
    const without = share(() => [404]);
    expect(await without.clips.find(id, signal)).toBeUndefined();
    expect(await without.clips.remove(id)).toBe(false);
  });

  it('is overloaded, not missing, when Redis is unavailable', async () => {
    const { clips } = share(
      () => [200],
      () => Promise.reject(new Error('away')),
    );
    await expect(clips.find(id, signal)).rejects.toMatchObject(unreachable);
  });
});

function silence(): Promise<Reply> {
  return new Promise(() => {});
}
