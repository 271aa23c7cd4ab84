/**
 * `102 Processing` while an answer takes long: Node's fetch gives up after 300 s without the head of an answer, whatever
 * timeout it was asked for, and each 102 restarts that. Only for clients that are known to need it, directly: Python's
 * http.client takes a 102 for the final answer, and so does nginx.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const needsIt = /^(node|undici)$|^OpenAI\/JS\b/;
const setByProxies = /^(forwarded|x-forwarded-.*|x-real-ip|via|cf-.*)$/;

/** Returns a function that ends it. Sends nothing once the head of the answer is out, or while the body is on its way. */
export function sendInterim(req: IncomingMessage, res: ServerResponse, ms: number): () => void {
  if (!wantsInterim(req)) return () => undefined;
  const timer = setInterval(() => {
    if (req.complete && !res.headersSent && res.writable) res.writeProcessing();
  }, ms);
  return () => clearInterval(timer);
}

export function wantsInterim({ httpVersion, headers }: Pick<IncomingMessage, 'httpVersion' | 'headers'>): boolean {
  if (httpVersion !== '1.1' || !needsIt.test(headers['user-agent'] ?? '')) return false;
  return !Object.keys(headers).some((name) => setByProxies.test(name));
}
