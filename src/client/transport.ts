/** Wraps fetch: returns successful responses of the expected media type; otherwise, throws a `ParlanceError`. */
import { mediaTypeOf, ParlanceError, toError, unexpected } from './errors.ts';

/** Sends a request, as the global `fetch` does. */
export type Fetch = (request: Request) => Promise<Response>;

/**
 * The expected media type is the request's Accept header: a media type, or a range such as `audio/*`; absent for a
 * response without a body.
 */
export function strict(fetch: Fetch): Fetch {
  return async (request) => {
    const response = await attempt(fetch, request);
    if (!response.ok) {
      const error = await toError(response);
      request.signal.throwIfAborted();
      throw error;
    }
    const [expected] = request.headers.get('accept')?.split('*') ?? [];
    const isExpected = expected === undefined ? response.status === 204 : mediaTypeOf(response)?.startsWith(expected);
    if (isExpected) return response;
    await response.body?.cancel();
    throw unexpected(response);
  };
}

async function attempt(fetch: Fetch, request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (cause) {
    request.signal.throwIfAborted();
    if (cause instanceof ParlanceError) throw cause;
    const { origin } = new URL(request.url);
    const detail = `No response from ${origin}: it is unreachable, or does not allow this page's origin (CORS).`;
    throw new ParlanceError('unreachable', detail, { cause });
  }
}
