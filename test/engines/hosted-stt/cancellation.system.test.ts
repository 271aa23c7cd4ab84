/** On disconnect, timeout and shutdown, no upstream call stays in flight, through either door. */
import { describe, expect, test } from 'vitest';
import { answers, type Behavior } from '../../support/provider.ts';
import { failureCode, transcriptionDoors, upload } from '../../support/local-service.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { fineAnswer, recording, startHosted } from './support.ts';

const limitMs = 250;
const large = Buffer.concat([recording, Buffer.alloc(20_000_000)]);

const half: Behavior = async ({ body, socket }) => {
  await body;
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"text":');
};

/** Stages at which the client disconnects, by what the provider has received. */
const stages: readonly { readonly name: string; readonly behavior: Behavior; readonly bytes: Buffer }[] = [
  { name: 'the recording is uploaded', behavior: () => undefined, bytes: large },
  { name: 'the provider works', behavior: ({ body }) => body, bytes: recording },
  { name: 'the response arrives', behavior: half, bytes: recording },
  {
    name: 'the body of an error arrives',
    behavior: async ({ body, socket }) => {
      await body;
      socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 50\r\n\r\nhm');
    },
    bytes: recording,
  },
];

const plainDoors = Object.entries(transcriptionDoors).filter(([name]) => !name.startsWith('streaming'));

describe.each(stages)('while $name', ({ behavior, bytes }) => {
  test.each(plainDoors)('a disconnect aborts the upstream call: %s', async (_door, to) => {
    const caller = new AbortController();
    let goneAfterMs: Promise<number> | undefined;
    const { service, provider } = await startHosted(async (call) => {
      await behavior(call);
      const sinceLeft = startStopwatch();
      goneAfterMs = call.gone.then(sinceLeft);
      caller.abort();
    });
    await expect(upload(service, bytes, { ...to, signal: caller.signal })).rejects.toThrow();
    const [call] = provider.calls;
    expect(await goneAfterMs).toBeLessThan(limitMs);
    if (bytes === large) expect(call!.received).toBeLessThan(large.length);
    await expect.poll(() => service.leftovers()).toEqual([]);
    await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
    expect(service.log.filter(({ level }) => level >= 50)).toEqual([]);
    expect(provider.calls).toHaveLength(1);
    // An abort does not affect the health of the provider.
    provider.behave(answers(200, fineAnswer));
    expect((await upload(service, recording, to)).status).toBe(200);
  });

  test.each(plainDoors)('shutdown aborts the upstream call, with 503: %s', async (_door, to) => {
    let stopped: Promise<void> | undefined;
    let goneAfterMs: Promise<number> | undefined;
    const { service } = await startHosted(async (call) => {
      await behavior(call);
      const sinceEnd = startStopwatch();
      goneAfterMs = call.gone.then(sinceEnd);
      stopped = service.service.stop(0);
    });
    const response = await upload(service, bytes, to);
    expect(response.status).toBe(503);
    expect(await failureCode(response)).toBe('shutting-down');
    expect(await goneAfterMs).toBeLessThan(limitMs);
    await stopped;
  });
});

test('a disconnect before a retry prevents it', async () => {
  const caller = new AbortController();
  const { service, provider } = await startHosted(async (call) => {
    await answers(503, '', { 'retry-after': '1' })(call);
    setTimeout(() => caller.abort(), 100); // well within the second that the provider asks for
  });
  await expect(upload(service, recording, { signal: caller.signal })).rejects.toThrow();
  await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
  await expect.poll(() => service.leftovers()).toEqual([]);
  await service.service.stop(0); // nothing can follow now
  expect(provider.calls).toHaveLength(1);
});

test('TRANSCRIBE_TIMEOUT aborts the upstream call, with 504', async () => {
  const { service, provider } = await startHosted(() => undefined, { env: { TRANSCRIBE_TIMEOUT: '1' } });
  const response = await upload(service, recording);
  expect(await response.json()).toMatchObject({ status: 504, code: 'engine-timeout' });
  await provider.calls[0]!.gone;
});
