/** For the HTTP client: discards the raw head of a response, and limits the informational responses (1xx) before it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/**
 * undici would keep the raw head until the body has ended: 1.2 KB per live stream, with a buffer for each name and
 * value (docs/decisions/13-memory-of-a-stream.md).
 */
export const dropHeads: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) =>
  dispatch(request, new HeadDropper(handler));

/** A server that sends only informational responses would keep a core busy until the request times out. */
const maxInformational = 100;

class HeadDropper implements Handler {
  readonly #handler: Handler;
  #informational = 0;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(controller: Controller, status: number, headers: IncomingHttpHeaders, statusText?: string): void {
    if (status < 200 && (this.#informational += 1) > maxInformational) return controller.abort(tooManyInformational());
    this.#handler.onResponseStart?.(controller, status, headers, statusText);
    controller.rawHeaders = null;
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#handler.onResponseError?.(controller, error);
  }
}

function tooManyInformational(): Error {
  const error = new Error(`more than ${maxInformational} informational responses before the final one`);
  return Object.assign(error, { code: 'ERR_TOO_MANY_INFORMATIONAL' });
}
