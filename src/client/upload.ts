/** A fetch that reports upload progress, based on XMLHttpRequest because the fetch of browsers cannot. */
import { ParlanceError } from './errors.ts';
import type { Fetch } from './transport.ts';

/** Called with the fraction of the upload that was sent, from 0 to 1. It never decreases. */
export type OnUploadProgress = (fraction: number) => void;

/** The parts of the DOM that are used, because the client is compiled without the types of the DOM. */
interface ProgressEventLike {
  readonly lengthComputable: boolean;
  readonly loaded: number;
  readonly total: number;
}
interface XmlHttpRequestLike {
  readonly upload: { onprogress: ((event: ProgressEventLike) => void) | null };
  readonly responseText: string;
  readonly status: number;
  readonly statusText: string;
  onreadystatechange: (() => void) | null;
  onprogress: (() => void) | null;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  readonly readyState: number;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: Blob): void;
  abort(): void;
}

const headersReceived = 2;

/** Returns undefined where XMLHttpRequest does not exist, as in Node.js. */
export function uploadFetch(onProgress: OnUploadProgress): Fetch | undefined {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => XmlHttpRequestLike };
  if (!XMLHttpRequest) return undefined;
  return async (request) => {
    const body = await request.blob();
    request.signal.throwIfAborted();
    return send(new XMLHttpRequest(), request, body, onProgress);
  };
}

/** Resolves as soon as the status and headers arrive, as fetch does: the body may be an event stream. */
function send(xhr: XmlHttpRequestLike, request: Request, body: Blob, onProgress: OnUploadProgress): Promise<Response> {
  return new Promise((resolve, reject) => {
    const encoder = new TextEncoder();
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    let taken = 0;
    const pump = () => {
      const { responseText } = xhr;
      if (responseText.length > taken) stream?.enqueue(encoder.encode(responseText.slice(taken)));
      taken = responseText.length;
    };
    const fail = (reason: Error) => {
      request.signal.removeEventListener('abort', abort);
      reject(reason); // has no effect once the promise has resolved
      stream?.error(reason);
      stream = undefined;
    };
    const abort = () => xhr.abort();
    xhr.upload.onprogress = ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total);
    };
    xhr.onreadystatechange = () => {
      if (xhr.readyState !== headersReceived) return;
      const source = new ReadableStream<Uint8Array>({
        start: (controller) => void (stream = controller),
        cancel: abort,
      });
      try {
        resolve(responseOf(xhr, source));
      } catch (cause) {
        const { status } = xhr;
        const detail = `Status ${status}: not a response of Parlance.`;
        reject(new ParlanceError('unexpected-answer', detail, { status, cause }));
        xhr.abort();
      }
    };
    xhr.onprogress = pump;
    xhr.onload = () => {
      request.signal.removeEventListener('abort', abort);
      pump();
      stream?.close();
      stream = undefined;
    };
    xhr.onerror = () => fail(new TypeError('The connection failed.'));
    xhr.onabort = () => fail(request.signal.reason as Error);
    request.signal.addEventListener('abort', abort);
    xhr.open(request.method, request.url);
    for (const [name, value] of request.headers) xhr.setRequestHeader(name, value);
    xhr.send(body);
  });
}

/** Statuses for which Response accepts no body. */
const withoutBody = [204, 205, 304];

function responseOf(xhr: XmlHttpRequestLike, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText } = xhr;
  const lines = xhr.getAllResponseHeaders().split('\r\n').filter(Boolean);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return new Response(withoutBody.includes(status) ? null : body, { status, statusText, headers });
}
