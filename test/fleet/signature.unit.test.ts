import { expect, it } from 'vitest';
import { createVerifier, sign } from '../../src/fleet/signature.ts';
import { openTicket, sealTicket } from '../../src/fleet/ticket.ts';

const secret = 's'.repeat(32);
const request = { method: 'POST', url: 'http://10.0.0.5:8485/fleet/v1/calls/x' };
const minute = 60_000;
const noon = 1_800_000_000_000;

it.each([-2, 0, 2])('a signature of a node whose clock is off by %d minutes is valid, once', (minutes) => {
  const verify = createVerifier(secret);
  const authorization = sign(secret, request, noon + minutes * minute);
  expect(verify(request, authorization, noon)).toBe('valid');
  expect(verify(request, authorization, noon)).toBe('invalid');
  expect(verify(request, sign(secret, request, noon), noon)).toBe('valid');
});

it.each([-3, 3])('a signature of a node whose clock is off by %d minutes reveals its time', (minutes) => {
  const signedAt = noon + minutes * minute;
  expect(createVerifier(secret)(request, sign(secret, request, signedAt), noon)).toEqual({ signedAt });
});

it.each([
  ['3 minutes old and of another secret', sign('t'.repeat(32), request, noon - 3 * minute)],
  ['of another secret', sign('t'.repeat(32), request, noon)],
  ['of another method', sign(secret, { ...request, method: 'GET' }, noon)],
  ['of another host', sign(secret, { ...request, url: request.url.replace('.5', '.6') }, noon)],
  ['cut off', sign(secret, request, noon).slice(0, -1)],
  ['absent', undefined],
  ['something else', 'Bearer x'],
])('a signature that is %s is refused', (_what, authorization) => {
  expect(createVerifier(secret)(request, authorization, noon)).toBe('invalid');
});

it('a ticket opens until it expires, and only as it was sealed', () => {
  const ticket = sealTicket(secret, request.url, noon);
  expect(openTicket(secret, ticket, noon + 2 * minute)).toEqual(ticket);
  expect(openTicket(secret, { ...ticket, v: 2, later: true }, noon)).toMatchObject({ v: 2 });
  expect(openTicket(secret, ticket, noon + 3 * minute)).toBeUndefined();
  expect(openTicket('t'.repeat(32), ticket, noon)).toBeUndefined();
  expect(openTicket(secret, { ...ticket, expires: noon + 1 }, noon)).toBeUndefined();
  for (const none of [undefined, null, 'x', [], {}, { ...ticket, mac: 1 }])
    expect(openTicket(secret, none, noon)).toBeUndefined();
});
