/**
 * Shares transcription jobs between fronts. A job stays on the disk of the front that accepted it, its owner, and its
 * id begins with the tag that the owner had at that time. Other fronts forward every request to the owner.
 */
import { parseObject } from '../../lib/json.ts';
import { notFound, type TranscriptionEvent } from '../jobs/events.ts';
import type { JobView } from '../jobs/job.ts';
import type { Jobs } from '../jobs/store.ts';
import { messagesOf, startPulse } from './call-protocol.ts';
import { jobsPath } from './job-port.ts';
import {
  neverAborted,
  otherTagOf,
  ownerTimeout,
  requestOwner,
  textOf,
  rejectUnreachable,
  type OtherFronts,
} from './owner.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface RemoteJobs extends OtherFronts {
  readonly timeouts: Pick<FleetTimeouts, 'signMs' | 'silenceMs'>;
  /** Whether this front owns the jobs with this tag, which may be that of an earlier process. */
  readonly isOwn: (tag: string) => boolean;
}

const what = 'transcription';
const reject = rejectUnreachable(what);

/** Maximum length of a job document in characters. The longest transcript with word timestamps takes less. */
const maxViewLength = 67_108_864;

/** Adds the jobs of other fronts to `own`. */
export function shareJobs(own: Jobs, fleet: RemoteJobs): Jobs {
  const { timeouts } = fleet;

  /** The URL of the job at its owner; undefined if this front answers itself. */
  async function urlOf(id: string, part: string, query: Readonly<Record<string, string | number | null>>) {
    const tag = otherTagOf(id, fleet);
    if (tag === undefined || fleet.isOwn(tag)) return undefined;
    // A restarted owner still has its jobs, so a missing address does not mean that the job does not exist.
    const address = await fleet.addressOf(tag).catch(reject);
    if (address === undefined) return reject(new Error('no front has the tag'));
    const url = new URL(`${address}${jobsPath}${id}${part}`);
    for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, String(value));
    return url.href;
  }

  return {
    get isOn() {
      return own.isOn;
    },
    requirePlace: () => own.requirePlace(),
    openUpload: (declared) => own.openUpload(declared),
    accept: (...args) => own.accept(...args),

    async view(id, options) {
      const { reader: key, waitMs: wait, signal } = options;
      const url = await urlOf(id, '', { key, wait });
      if (url === undefined) return own.view(id, options);
      const ms = wait + timeouts.silenceMs;
      using answer = await requestOwner({ what, method: 'GET', url }, ms, signal, fleet);
      if (!answer) throw notFound(id);
      const view = await textOf(answer, ms, maxViewLength).then(parseObject, reject);
      signal.throwIfAborted();
      return view?.id === id ? (view as unknown as JobView) : reject(new Error('not a job'));
    },

    async events(id, options) {
      const { reader: key, after, requestId: request, signal } = options;
      const url = await urlOf(id, '/events', { key, after, request });
      if (url === undefined) return own.events(id, options);
      const answer = await requestOwner({ what, method: 'GET', url }, timeouts.silenceMs, signal, fleet);
      if (!answer) throw notFound(id);
      return streamEvents(answer, timeouts);
    },

    async remove(id, key) {
      const url = await urlOf(id, '', { key });
      if (url === undefined) return own.remove(id, key);
      using answer = await requestOwner({ what, method: 'DELETE', url }, timeouts.silenceMs, neverAborted, fleet);
      if (!answer) throw notFound(id);
    },
  };
}

/** Ends without a last event if the owner is lost. Readers resume then. */
async function* streamEvents(
  answer: NonNullable<Awaited<ReturnType<typeof requestOwner>>>,
  timeouts: Pick<FleetTimeouts, 'signMs' | 'silenceMs'>,
): AsyncGenerator<TranscriptionEvent> {
  using open = answer;
  using pulse = startPulse(timeouts, () => undefined, () => void open.body.destroy(ownerTimeout())); // prettier-ignore
  for await (const message of messagesOf<TranscriptionEvent | { readonly type: 'alive' }>(open.body, pulse.received)) {
    if (message.type !== 'alive') yield message;
  }
}
