/** A defect of the service's own: engines can no longer make a listing fail. */
import { StoredClip } from '../../../src/clips/clip.ts';
import { JobStore } from '../../../src/jobs/store.ts';
import type { TestService } from '../../support/service.ts';

/** The removal of a clip fails once `until` has settled, until the defect is disposed of. Its file is removed all the same. */
export function breakRemoval(until: Promise<unknown> = Promise.resolve()): Disposable {
  const { discard } = StoredClip.prototype;
  StoredClip.prototype.discard = async function (failure) {
    await until;
    await discard.call(this, failure);
    throw new TypeError('a defect of the service');
  };
  return {
    [Symbol.dispose]() {
      StoredClip.prototype.discard = discard;
    },
  };
}

/** Jobs cannot be found, until the defect is disposed of. */
export function breakJobs(): Disposable {
  const { view, events, remove } = JobStore.prototype;
  const fail = () => Promise.reject(new TypeError('a defect of the service'));
  Object.assign(JobStore.prototype, { view: fail, events: fail, remove: fail });
  return {
    [Symbol.dispose]() {
      Object.assign(JobStore.prototype, { view, events, remove });
    },
  };
}

/** Listings fail, after they have called `before`, until the defect is disposed of. */
export function breakListings({ service }: TestService, before = (): void => undefined): Disposable {
  const registry = service.registry as { of?: unknown; readonly assets: { list?: unknown; find?: unknown } };
  const fail = () => {
    before();
    throw new TypeError('a defect of the service');
  };
  registry.of = fail;
  Object.assign(registry.assets, { list: fail, find: fail });
  return {
    [Symbol.dispose]() {
      // The methods of its class are there again.
      delete registry.of;
      delete registry.assets.list;
      delete registry.assets.find;
    },
  };
}
