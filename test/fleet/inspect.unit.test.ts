/** What the doctor says of a Redis server. */
import { expect, it } from 'vitest';
import { checkServer } from '../../src/fleet/inspect.ts';

const good = { version: '7.0.15', evictionPolicy: 'noeviction', aheadMs: -40 };

/** What is wrong, with its fix. */
const wrong = (facts: Partial<typeof good> | { evictionPolicy: undefined }) =>
  checkServer('redis://10.0.0.2:6379', { ...good, ...facts }).flatMap(({ ok, detail, fix }) => (ok ? [] : [[detail, fix]])); // prettier-ignore

it('accepts a server that suits a fleet', () => {
  expect(checkServer('redis://10.0.0.2:6379', good)).toEqual([
    { what: 'Redis', ok: true, detail: 'redis://10.0.0.2:6379, version 7.0.15' },
    { what: 'eviction', ok: true, detail: 'maxmemory-policy: noeviction' },
    { what: 'clock', ok: true, detail: '0.0 s ahead of that of Redis' },
  ]);
});

it.each(['6.2.0', '6.10.1', '7.0.15', '8.0.0'])('accepts version %s', (version) => {
  expect(wrong({ version })).toEqual([]);
});

it.each(['5.0.14', '6.0.16', 'unknown'])('rejects version %s', (version) => {
  expect(wrong({ version })).toEqual([
    [`redis://10.0.0.2:6379, version ${version}`, 'update Redis to 6.2 or newer, or use Valkey'],
  ]);
});

it('rejects a policy that evicts tickets, and accepts a hidden one', () => {
  expect(wrong({ evictionPolicy: 'allkeys-lru' })).toEqual([
    ['maxmemory-policy: allkeys-lru', 'set maxmemory-policy to noeviction in redis.conf'],
  ]);
  expect(wrong({ evictionPolicy: undefined })).toEqual([]);
});

it.each([
  [61_000, '61.0 s behind that of Redis'],
  [-90_500, '90.5 s ahead of that of Redis'],
])('rejects a clock that is %i ms from that of Redis', (aheadMs, detail) => {
  expect(wrong({ aheadMs })).toEqual([[detail, 'synchronize the clocks of all nodes (NTP)']]);
});
