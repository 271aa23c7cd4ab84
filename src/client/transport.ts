/** One exchange over HTTP: what comes back is a success of the expected media type, or a `ParlanceError` is thrown. */
import { mediaTypeOf, ParlanceError, toError, unexpected } from './errors.ts';

export type Fetch = (request: Request) => Promise<Response>;

/** The request's Accept header, a media type or a range such as `audio/*`, says what is expected. */
export function strict(fetch: Fetch): Fetch {
  return async (request) => {
    const response = await attempt(fetch, request);
    if (!response.ok) {
      const error = await toError(response);
      request.signal.throwIfAborted();
      throw error;
    }
    const [expected = ''] = (request.headers.get('accept') ?? '').split('*');
    if (mediaTypeOf(response)?.startsWith(expected)) return response;
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
    const detail = `No answer came from ${origin}: it cannot be reached, or does not allow this page's origin.`;
    throw new ParlanceError('unreachable', detail, { cause });
  }
}
