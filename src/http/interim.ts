/**
 * Sends `102 Processing` while an answer is pending. Node's fetch gives up after 300 s without a response head,
 * regardless of its configured timeout, and each 102 resets that timer. Sent only to clients that are known to need it,
 * and not through proxies: Python's http.client and nginx take a 102 for the final answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const needsIt = /^(node|undici)$|^OpenAI\/JS\b/;
const setByProxies = /^(forwarded|x-forwarded-.*|x-real-ip|via|cf-.*)$/;

/** Returns a function that stops sending. Sends nothing while the request body arrives or after the head was sent. */
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
