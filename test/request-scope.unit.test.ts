import { describe, expect, it } from 'vitest';
import { callerOfAddress, currentCaller, runInScope } from '../src/request-scope.ts';

describe('the caller of an address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('%s is %s', (address, caller) => {
    expect(callerOfAddress(address)).toBe(caller);
  });
});

describe('the current caller', () => {
  it('is empty outside of a request', () => {
    expect(currentCaller()).toBe('');
  });

  it('is known to all work of a request, once it is authenticated', async () => {
    const scope = { caller: '192.0.2.1' };
    const [authenticated, before] = await runInScope(scope, async () => {
      await Promise.resolve();
      const later = () => new Promise<string>((resolve) => setTimeout(() => resolve(currentCaller()), 1));
      return Promise.all([runInScope({ ...scope, caller: 'key-2' }, later), later()]);
    });
    expect({ authenticated, before }).toEqual({ authenticated: 'key-2', before: '192.0.2.1' });
  });

  it('differs between requests', async () => {
    const ask = (caller: string) => runInScope({ caller }, async () => (await Promise.resolve(), currentCaller()));
    expect(await Promise.all([ask('a'), ask('b')])).toEqual(['a', 'b']);
  });
});
