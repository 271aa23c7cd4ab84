/**
 * Shares clips between fronts. A clip stays on the disk of the front that created it, its owner, and its id begins with
 * the owner's tag. Other fronts forward every request to the owner, so that only the owner expires and deletes the
 * clip.
 */
import { countOf, isObject, parseObject } from '../../lib/json.ts';
import type { Clip } from '../clips/clip.ts';
import type { ByteRange } from '../clips/spool.ts';
import type { Clips } from '../clips/store.ts';
import { audioTypes } from '../contract/audio.ts';
import { ProblemError } from '../contract/problems.ts';
import { clipsPath, type ClipDocument } from './clip-port.ts';
import {
  neverAborted,
  otherTagOf,
  ownerTimeout,
  requestOwner,
  textOf,
  rejectUnreachable,
  unreachable,
  type OtherFronts,
  type OwnerResponse,
} from './owner.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface RemoteClips extends OtherFronts {
  readonly timeouts: Pick<FleetTimeouts, 'silenceMs' | 'clipMs'>;
}

const what = 'clip';

/** A front that has stopped leaves the list of nodes within 15 s; from then on, its clips are reported as not found. */
const reject = rejectUnreachable(what);

const maxDocumentLength = 1_000;

/** Adds the clips of other fronts to `own`. */
export function shareClips(own: Clips, fleet: RemoteClips): Clips {
  const urlOf = async (id: string): Promise<string | undefined> => {
    const tag = otherTagOf(id, fleet);
    if (tag === undefined) return undefined;
    const address = await fleet.addressOf(tag).catch(reject);
    return address && `${address}${clipsPath}${id}`;
  };
  return {
    create: (audio, owner) => own.create(audio, owner),
    async find(id, signal) {
      const url = await urlOf(id);
      return url === undefined ? own.find(id, signal) : findRemote({ id, url }, signal, fleet);
    },
    async remove(id) {
      const url = await urlOf(id);
      if (url === undefined) return own.remove(id);
      using answer = await requestOwner({ what, method: 'DELETE', url }, fleet.timeouts.silenceMs, neverAborted, fleet);
      return answer !== undefined;
    },
  };
}

async function findRemote(
  { id, url }: { readonly id: string; readonly url: string },
  signal: AbortSignal,
  fleet: RemoteClips,
): Promise<Clip | undefined> {
  const { silenceMs, clipMs } = fleet.timeouts;
  const document = await describe(signal);
  if (document === undefined) return undefined;
  const { mediaType, whole } = document;
  return { id, mediaType, whole, settled, read };

  async function describe(signal: AbortSignal): Promise<ClipDocument | undefined> {
    using answer = await requestOwner({ what, method: 'GET', url }, silenceMs, signal, fleet);
    return answer && documentOf(await textOf(answer, silenceMs, maxDocumentLength).catch(reject));
  }

  async function settled(signal: AbortSignal): Promise<void> {
    using _answer = await requestOwner({ what, method: 'GET', url: `${url}/settled` }, clipMs, signal, fleet);
  }

  async function* read(range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { first, last } = range;
    using answer = await requestOwner(
      { what, method: 'GET', url: `${url}/audio/${first}-${last ?? ''}` },
      silenceMs,
      signal,
      fleet,
    );
    if (answer === undefined) throw gone();
    try {
      yield* bytesOf(answer, whole && Math.min(last ?? Infinity, whole.bytes - 1) - first + 1);
    } catch (error) {
      signal.throwIfAborted();
      throw (await describe(signal)) === undefined ? gone(error) : unreachable(what, error);
    }
  }

  /**
   * Throws if the number of bytes differs from `expected`, which is the Content-Length of the response to the caller.
   */
  async function* bytesOf({ body, link }: OwnerResponse, expected: number | undefined): AsyncGenerator<Uint8Array> {
    let received = 0;
    const pieces = body.iterator() as AsyncIterator<Buffer>;
    for (;;) {
      const piece = await link.within(clipMs, ownerTimeout, pieces.next());
      if (piece.done) break;
      received += piece.value.length;
      if (expected !== undefined && received > expected) throw new Error('the owner sent more bytes than the clip has');
      yield piece.value;
    }
    if (expected !== undefined && received < expected) throw new Error('the owner sent fewer bytes than the clip has');
  }
}

/** Validates the fields, which become headers of the response to the caller. */
function documentOf(text: string): ClipDocument {
  const { mediaType, whole } = parseObject(text) ?? {};
  const declared = audioTypes.find((type) => type === mediaType);
  if (declared === undefined) throw unreachable(what, new Error('the owner sent an invalid description of the clip'));
  const { bytes, etag } = isObject(whole) ? whole : {};
  const size = countOf(bytes);
  const isWhole = size !== undefined && typeof etag === 'string' && /^"[\w-]{43}"$/.test(etag);
  return { mediaType: declared, ...(isWhole && { whole: { bytes: size, etag } }) };
}

function gone(cause?: unknown): ProblemError {
  return new ProblemError('clip-not-found', 'The clip has been removed.', { cause });
}
