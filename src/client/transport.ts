/** Wraps fetch: returns successful responses of the expected media type, else throws a `ParlanceError`. */
import { mediaTypeOf, ParlanceError, toError, unexpected } from './errors.ts';

/** Sends a request, as the global `fetch` does. */
export type Fetch = (request: Request) => Promise<Response>;

/**
 * The expected media type is the request's Accept header: a media type, a range such as `audio/*`, or absent for any.
 */
export function strict(fetch: Fetch): Fetch {
  return async (request) => {
    const response = await attempt(fetch, request);
    if (!response.ok) {
      const error = await toError(response);
      request.signal.throwIfAborted();
      throw error;
    }
    const [expected = ''] = (request.headers.get('accept') ?? '').split('*');
    if ((mediaTypeOf(response) ?? '').startsWith(expected)) return response;
    await response.body?.cancel();
    throw unexpected(response);
  };
}

async function attempt(fetch: Fetch, request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (cause) {
    request.signal.throwIfAborted();
    const { origin } = new URL(request.url);
    const detail = `No response from ${origin}: it is unreachable, or does not allow this page's origin (CORS).`;
    throw new ParlanceError('unreachable', detail, { cause });
  }
}
