/**
 * The transcription jobs of all fronts. A job stays on the disk of the front that accepted it, its owner, and its id begins
 * with the tag that the owner had then. The other fronts ask the owner at every request.
 */
import { parseObject } from '../../lib/json.ts';
import { notFound, type TranscriptionEvent } from '../jobs/events.ts';
import type { JobView } from '../jobs/job.ts';
import type { Jobs } from '../jobs/store.ts';
import { messagesOf, startPulse } from './call-protocol.ts';
import { jobsPath } from './job-port.ts';
import { ask, late, neverAborted, otherTagOf, textOf, unreachable, type OtherFronts } from './owner.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface RemoteJobs extends OtherFronts {
  readonly limits: Pick<FleetTimeouts, 'signMs' | 'silenceMs'>;
  /** Whether a job with such a tag is on this front, whatever its tag is now. */
  readonly isOwn: (tag: string) => boolean;
}

const what = 'transcription';

/** Characters; the view of a job with the longest text and its words is smaller. */
const longestView = 67_108_864;

/** `own` with the jobs of the other fronts. */
export function shareJobs(own: Jobs, fleet: RemoteJobs): Jobs {
  const { limits } = fleet;

  /** Undefined: it is for this front to answer. */
  async function urlOf(id: string, part: string, query: Readonly<Record<string, string | number | null>>) {
    const tag = otherTagOf(id, fleet);
    if (tag === undefined || fleet.isOwn(tag)) return undefined;
    // The owner comes back with its jobs: without an address, nobody can say that there is none.
    const address = await fleet.addressOf(tag).catch((error: unknown) => rejectUnreachable(error));
    if (address === undefined) return rejectUnreachable(new Error('no front has the tag'));
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
      const ms = wait + limits.silenceMs;
      using answer = await ask({ what, method: 'GET', url }, ms, signal, fleet);
      if (!answer) throw notFound(id);
      const view = await textOf(answer, ms, longestView).then(parseObject, rejectUnreachable);
      signal.throwIfAborted();
      return view?.id === id ? (view as unknown as JobView) : rejectUnreachable(new Error('not a job'));
    },

    async events(id, options) {
      const { reader: key, after, requestId: request, signal } = options;
      const url = await urlOf(id, '/events', { key, after, request });
      if (url === undefined) return own.events(id, options);
      const answer = await ask({ what, method: 'GET', url }, limits.silenceMs, signal, fleet);
      if (!answer) throw notFound(id);
      return follow(answer, limits);
    },

    async remove(id, key) {
      const url = await urlOf(id, '', { key });
      if (url === undefined) return own.remove(id, key);
      using answer = await ask({ what, method: 'DELETE', url }, limits.silenceMs, neverAborted, fleet);
      if (!answer) throw notFound(id);
    },
  };
}

/** Ends without a last event when the owner is gone: the reader resumes it. */
async function* follow(
  answer: NonNullable<Awaited<ReturnType<typeof ask>>>,
  limits: Pick<FleetTimeouts, 'signMs' | 'silenceMs'>,
): AsyncGenerator<TranscriptionEvent> {
  using open = answer;
  using pulse = startPulse(limits, () => undefined, () => void open.body.destroy(late())); // prettier-ignore
  for await (const message of messagesOf<TranscriptionEvent | { readonly type: 'alive' }>(open.body, pulse.received)) {
    if (message.type !== 'alive') yield message;
  }
}

function rejectUnreachable(cause: unknown): never {
  throw unreachable(what, cause);
}
