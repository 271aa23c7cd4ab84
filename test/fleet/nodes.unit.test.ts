/** What nodes say of themselves in Redis, which is not trusted. */
import { expect, it } from 'vitest';
import { nodesIn } from '../../src/fleet/nodes.ts';
import { macFor } from '../../src/fleet/ticket.ts';

const secret = 'a secret of the fleet';

function announce(facts: unknown, { v = 1, node = 'a', by = secret } = {}): ReadonlyMap<string, string> {
  const text = JSON.stringify(facts);
  return new Map([['a', JSON.stringify({ v, facts: text, mac: macFor(by, ['node', node, text]) })]]);
}

const facts = { instances: { local: { slots: 2, meanMs: 30 } }, address: 'http://10.0.0.5:8485' };

it('counts where a node of the fleet has signed it', () => {
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

it('has no number that cannot be', () => {
  const instances = { much: { slots: 1e9, meanMs: -1 }, none: 'slots' };
  const { nodes } = nodesIn(announce({ instances }), secret);
  expect(nodes.get('a')).toEqual({ instances: { much: { slots: 10_000, meanMs: 0 }, none: { slots: 0, meanMs: 0 } } });
});
