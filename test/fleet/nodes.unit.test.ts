/** What nodes say of themselves in Redis, which is not trusted. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fleetTimeouts } from '../../src/fleet/timeouts.ts';
import { createNodes, nodesIn } from '../../src/fleet/nodes.ts';
import type { Redis } from '../../src/fleet/redis.ts';
import { macFor } from '../../src/fleet/ticket.ts';

const secret = 'a secret of the fleet';

function announce(facts: unknown, { v = 1, node = 'a', by = secret } = {}): ReadonlyMap<string, string> {
  const text = JSON.stringify(facts);
  return new Map([['a', JSON.stringify({ v, facts: text, mac: macFor(by, ['node', node, text]) })]]);
}

const facts = {
  instances: { local: { slots: 2, meanMs: 30 } },
  address: 'http://10.0.0.5:8485',
  tags: ['01234567', '89abcdef'],
};

it('is accepted if a node of the fleet has signed it', () => {
  expect(nodesIn(announce(facts), secret)).toEqual({ nodes: new Map([['a', facts]]), foreign: 0 });
});

it.each([
  ['another secret', announce(facts, { by: 'another' }), 1],
  ['the id of another node', announce(facts, { node: 'b' }), 1],
  ['another version', announce(facts, { v: 2 }), 0],
  ['no signature', new Map([['a', JSON.stringify({ v: 1, ...facts })]]), 0],
  ['no JSON', new Map([['a', '{']]), 0],
])('does not count with %s', (_what, announced, foreign) => {
  expect(nodesIn(announced, secret)).toEqual({ nodes: new Map(), foreign });
});

it('drops tags that are not text', () => {
  const { nodes } = nodesIn(announce({ ...facts, tags: [1, null, '01234567'] }), secret);
  expect(nodes.get('a')?.tags).toEqual(['01234567']);
  expect(nodesIn(announce({ ...facts, tags: 'all' }), secret).nodes.get('a')?.tags).toEqual([]);
});

it('drops invalid numbers', () => {
  const instances = { much: { slots: 1e9, meanMs: -1 }, none: 'slots' };
  const { nodes } = nodesIn(announce({ instances }), secret);
  expect(nodes.get('a')).toEqual({ instances: { much: { slots: 10_000, meanMs: 0 }, none: { slots: 0, meanMs: 0 } } });
});

describe('a Redis that answers reads and rejects writes', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start() {
    const state = { refuses: false, announced: announce(facts) };
    const lines: string[] = [];
    const refusal = Object.assign(new Error('OOM command not allowed'), { name: 'ReplyError' });
    const write = (_facts: object, message: string) => void lines.push(message);
    const redis: Pick<Redis, 'isReady' | 'announce' | 'announced' | 'withdraw'> = {
      isReady: true,
      announce: () => (state.refuses ? Promise.reject(refusal) : Promise.resolve()),
      announced: () => Promise.resolve(state.announced),
      withdraw: () => Promise.resolve(),
    };
    const log = { debug: () => {}, info: write, warn: write, error: write };
    const self = () => ({ instances: {} });
    const nodes = createNodes({ ...{ id: 'b', self, secret, log, timeouts: fleetTimeouts }, redis });
    onTestFinished(() => nodes[Symbol.asyncDispose]());
    return { state, lines, nodes };
  }

  const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);

  it('expires announcements, and time without them does not count as absence', async () => {
    const { state, nodes } = start();
    await seconds(10);
    state.refuses = true;
    await seconds(5);
    state.announced = new Map();
    await seconds(300);
    expect(nodes.absentMs('local')).toBeLessThan(fleetTimeouts.firstWorkerMs);
    state.refuses = false;
    await seconds(60);
    expect(nodes.absentMs('local')).toBeGreaterThan(fleetTimeouts.firstWorkerMs);
  });

  it('makes the node not ready, is logged once, and invalidates counts until all nodes may have renewed theirs', async () => {
    const { state, lines, nodes } = start();
    await seconds(1);
    expect([nodes.trouble, nodes.isSettled]).toEqual([undefined, true]);
    state.refuses = true;
    await seconds(30);
    expect([nodes.trouble, nodes.isSettled]).toEqual(['Redis accepts no changes', false]);
    expect(nodes.capacityOf('local').slots).toBe(0);
    state.refuses = false;
    await seconds(5);
    expect([nodes.trouble, nodes.isSettled]).toEqual([undefined, false]);
    await seconds(5);
    expect(nodes.isSettled).toBe(true);
    expect(lines).toEqual([
      'Redis accepts no changes: it may be full, or a read-only replica',
      'Redis accepts changes again',
    ]);
  });
});
