import { describe, expect, it } from 'vitest';
import { checkAddress, listenAddress } from '../../src/fleet/address.ts';
import { checkFleetSettings } from '../../src/settings/fleet.ts';

describe('settings of a fleet', () => {
  const secret = 's'.repeat(32);
  const url = { fleetUrl: 'redis://localhost' };

  it.each([
    ['nothing', { fleetRole: 'both' }],
    ['a worker without an address', { ...url, fleetRole: 'worker', fleetSecret: secret }],
    ['a front', { ...url, fleetRole: 'front', fleetSecret: secret, fleetAddress: 'http://10.0.0.1:1' }],
  ] as const)('may be %s', (_what, settings) => {
    expect(() => checkFleetSettings(settings)).not.toThrow();
  });

  it.each([
    ['a worker without a fleet', { fleetRole: 'worker' }, /^FLEET_ROLE: "worker" needs FLEET_URL/],
    ['a fleet without a secret', { ...url, fleetRole: 'worker' }, /^FLEET_SECRET: not set/],
    ['a front without an address', { ...url, fleetRole: 'both', fleetSecret: secret }, /^FLEET_ADDRESS: not set/],
  ] as const)('may not be %s', (_what, settings, message) => {
    expect(() => checkFleetSettings(settings)).toThrow(message);
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

  it('is where the front listens, unless FLEET_LISTEN says otherwise', () => {
    expect(listenAddress('http://10.0.0.5:8485', undefined)).toEqual({ host: '10.0.0.5', port: 8485 });
    expect(listenAddress('https://front.example', undefined)).toEqual({ host: 'front.example', port: 443 });
    expect(listenAddress('https://front.example', '0.0.0.0:8485')).toEqual({ host: '0.0.0.0', port: 8485 });
    expect(listenAddress('https://front.example', '[::]:80')).toEqual({ host: '::', port: 80 });
  });
});
