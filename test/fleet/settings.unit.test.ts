import { describe, expect, it } from 'vitest';
import { checkAddress, listenAddress } from '../../src/fleet/address.ts';
import { readFleet } from '../../src/settings/fleet.ts';

describe('settings of a fleet', () => {
  const secret = 's'.repeat(32);
  const given = { fleetUrl: 'redis://localhost', fleetPrefix: 'parlance', fleetSecret: secret };
  const fleet = { url: 'redis://localhost', prefix: 'parlance', secret };
  const address = 'http://10.0.0.1:1';

  it.each([
    ['nothing', { fleetRole: 'both', fleetPrefix: 'parlance' }, undefined],
    ['a worker without an address', { ...given, fleetRole: 'worker' }, { ...fleet, role: 'worker' }],
    ['a front', { ...given, fleetRole: 'front', fleetAddress: address }, { ...fleet, role: 'front', address }],
    ['both', { ...given, fleetRole: 'both', fleetAddress: address }, { ...fleet, role: 'both', address }],
  ] as const)('may be %s', (_what, settings, value) => {
    expect(readFleet(settings)).toEqual(value);
  });

  const { fleetUrl: _url, ...withoutUrl } = given;
  const { fleetSecret: _secret, ...withoutSecret } = given;

  it.each([
    ['a worker without a fleet', { ...withoutUrl, fleetRole: 'worker' }, /^FLEET_ROLE: "worker" needs FLEET_URL/],
    ['a fleet without a secret', { ...withoutSecret, fleetRole: 'worker' }, /^FLEET_SECRET: not set/],
    ['a front without an address', { ...given, fleetRole: 'both' }, /^FLEET_ADDRESS: not set/],
    [
      'a front without both',
      { ...withoutSecret, fleetRole: 'both' },
      /^FLEET_SECRET: not set.*\nFLEET_ADDRESS: not set/,
    ],
  ] as const)('may not be %s', (_what, settings, message) => {
    expect(() => readFleet(settings)).toThrow(message);
  });
});

describe('FLEET_ADDRESS', () => {
  it.each([
    'http://127.0.0.1:8485',
    'http://localhost:8485',
    'http://10.1.2.3:8485',
    'http://172.31.0.1',
    'http://192.168.0.1',
    'http://100.100.1.1',
    'http://[::1]:1',
    'http://[fd00::1]:1',
    'https://8.8.8.8:8485',
  ])('may be %s', async (address) => {
    await expect(checkAddress(address)).resolves.toBeUndefined();
  });

  it.each(['http://8.8.8.8:8485', 'http://172.32.0.1', 'http://[2001:db8::1]:1', 'http://[::ffff:8.8.8.8]:1'])(
    'may not be %s: recordings would travel in clear text',
    async (address) => {
      await expect(checkAddress(address)).rejects.toThrow(
        /^FLEET_ADDRESS: recordings would .* is not a private address/,
      );
    },
  );

  it('is the listen address unless FLEET_LISTEN is set', () => {
    expect(listenAddress('http://10.0.0.5:8485', undefined)).toEqual({ host: '10.0.0.5', port: 8485 });
    expect(listenAddress('https://front.example', undefined)).toEqual({ host: 'front.example', port: 443 });
    expect(listenAddress('https://front.example', '0.0.0.0:8485')).toEqual({ host: '0.0.0.0', port: 8485 });
    expect(listenAddress('https://front.example', '[::]:80')).toEqual({ host: '::', port: 80 });
  });
});
