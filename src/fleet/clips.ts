/**
 * The clips of all fronts. A clip stays on the disk of the front that made it, its owner, and its id begins with the
 * owner's tag. The other fronts ask the owner at every request: there is one expiry and one deletion.
 */
import { countOf, isObject, parseObject } from '../../lib/json.ts';
import type { Clip } from '../clips/clip.ts';
import type { ByteRange } from '../clips/spool.ts';
import type { Clips } from '../clips/store.ts';
import { audioTypes } from '../contract/audio.ts';
import { ProblemError } from '../contract/problems.ts';
import { clipsPath, type ClipDocument } from './clip-port.ts';
import { ask, late, neverAborted, otherTagOf, textOf, unreachable, type Answer, type OtherFronts } from './owner.ts';
import type { FleetTimeouts } from './timeouts.ts';

export interface RemoteClips extends OtherFronts {
  readonly limits: Pick<FleetTimeouts, 'silenceMs' | 'clipMs'>;
}

const what = 'clip';

/** A front that has ended is no longer in the list of nodes after 15 s at most, and then its clips are not found. */
const rejectUnreachable = (cause: unknown): never => {
  throw unreachable(what, cause);
};

const longestDocument = 1_000;

/** `own` with the clips of the other fronts. */
export function shareClips(own: Clips, fleet: RemoteClips): Clips {
  const urlOf = async (id: string): Promise<string | undefined> => {
    const tag = otherTagOf(id, fleet);
    if (tag === undefined) return undefined;
    const address = await fleet.addressOf(tag).catch(rejectUnreachable);
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
      using answer = await ask({ what, method: 'DELETE', url }, fleet.limits.silenceMs, neverAborted, fleet);
      return answer !== undefined;
    },
  };
}

async function findRemote(
  { id, url }: { readonly id: string; readonly url: string },
  signal: AbortSignal,
  fleet: RemoteClips,
): Promise<Clip | undefined> {
  const { silenceMs, clipMs } = fleet.limits;
  const document = await describe(signal);
  if (document === undefined) return undefined;
  const { mediaType, whole } = document;
  return { id, mediaType, whole, settled, read };

  async function describe(signal: AbortSignal): Promise<ClipDocument | undefined> {
    using answer = await ask({ what, method: 'GET', url }, silenceMs, signal, fleet);
    return answer && documentOf(await textOf(answer, silenceMs, longestDocument).catch(rejectUnreachable));
  }

  async function settled(signal: AbortSignal): Promise<void> {
    using _answer = await ask({ what, method: 'GET', url: `${url}/settled` }, clipMs, signal, fleet);
  }

  async function* read(part: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { first, last } = part;
    using answer = await ask(
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

  /** Checks the number of bytes: it is the Content-Length of the answer to the caller. */
  async function* bytesOf({ body, link }: Answer, expected: number | undefined): AsyncGenerator<Uint8Array> {
    let received = 0;
    const pieces = body.iterator() as AsyncIterator<Buffer>;
    for (;;) {
      const piece = await link.within(clipMs, late, pieces.next());
      if (piece.done) break;
      received += piece.value.length;
      if (expected !== undefined && received > expected) throw new Error('the owner has sent too much of a clip');
      yield piece.value;
    }
    if (expected !== undefined && received < expected) throw new Error('the owner has sent too little of a clip');
  }
}

/** They become headers of the answer to the caller. */
function documentOf(text: string): ClipDocument {
  const { mediaType, whole } = parseObject(text) ?? {};
  const declared = audioTypes.find((type) => type === mediaType);
  if (declared === undefined) throw unreachable(what, new Error('the owner of a clip has not described it'));
  const { bytes, etag } = isObject(whole) ? whole : {};
  const size = countOf(bytes);
  const isWhole = size !== undefined && typeof etag === 'string' && /^"[\w-]{43}"$/.test(etag);
  return { mediaType: declared, ...(isWhole && { whole: { bytes: size, etag } }) };
}

function gone(cause?: unknown): ProblemError {
  return new ProblemError('clip-not-found', 'The clip has been removed.', { cause });
}
