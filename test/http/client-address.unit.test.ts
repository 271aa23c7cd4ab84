import { expect, it } from 'vitest';
import { clientAddress } from '../../src/http/open-request.ts';

const peer = '10.0.0.1';

function addressFor(forwarded: string | undefined, proxies: number): string | undefined {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress({ headers, socket: { remoteAddress: peer } }, proxies);
}

it.each<[forwarded: string | undefined, proxies: number, address: string]>([
  ['192.0.2.7', 0, peer],
  [undefined, 1, peer],
  ['192.0.2.7', 1, '192.0.2.7'],
  ['6.6.6.6, 192.0.2.7', 1, '192.0.2.7'],
  ['6.6.6.6, 192.0.2.7, 10.0.0.2', 2, '192.0.2.7'],
  ['6.6.6.6,192.0.2.7,10.0.0.2', 2, '192.0.2.7'],
  ['192.0.2.7', 2, '192.0.2.7'],
  ['192.0.2.7:4711', 1, '192.0.2.7'],
  ['[2001:db8::1]:4711', 1, '2001:db8::1'],
  ['2001:db8::1', 1, '2001:db8::1'],
  ['unknown', 1, peer],
  ['192.0.2.7, ', 1, peer],
  ['', 1, peer],
])('%j behind %i proxies is from %s', (forwarded, proxies, address) => {
  expect(addressFor(forwarded, proxies)).toBe(address);
});
