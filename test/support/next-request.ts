import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { TestService } from './service.ts';

/** Resolves when the service has begun with its next request. */
export function nextRequest({ url }: Pick<TestService, 'url'>): Promise<void> {
  const channel = 'http.server.request.start';
  return new Promise((resolve) => {
    const listen = (message: unknown) => {
      if ((message as { socket: Socket }).socket.localPort !== Number(new URL(url).port)) return;
      unsubscribe(channel, listen);
      resolve();
    };
    subscribe(channel, listen);
  });
}
