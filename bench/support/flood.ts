/**
 * Floods a service with live sessions, from a process of its own: `node flood.ts URL KIND SESSIONS [KEY]`. Each session
 * sends as fast as its socket takes it. Prints a line once all are open,
 * and ends without one if a session is refused.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { inputUpdate } from './live-session.ts';

const [url = '', kind = '', sessions = '', key = ''] = process.argv.slice(2);

const silence = { type: 'input_audio_buffer.append', audio: Buffer.alloc(3_000_000).toString('base64') };
const smallEvents = [inputUpdate({ turn_detection: {} }), { type: 'input_audio_buffer.clear' }, { type: 'unknown' }];
const messages = (kind === 'sound' ? [silence] : smallEvents).map((event) => JSON.stringify(event));

/** A masked frame of a client. A mask of zeros leaves the payload as it is. */
const frame = (firstByte: number, length: number) =>
  Buffer.concat([Buffer.from([firstByte, 128 + length, 0, 0, 0, 0]), Buffer.alloc(length, 'x')]);
/** One byte of a message, in a read that is full otherwise. */
const fragment = Buffer.concat([frame(0x00, 1), ...Array<Buffer>(490).fill(frame(0x8a, 125))]);

async function open(): Promise<WebSocket> {
  const address = `${url.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`;
  const socket = new WebSocket(address, { perMessageDeflate: false, headers: { authorization: `Bearer ${key}` } });
  socket.on('message', () => undefined);
  socket.on('error', () => undefined);
  await once(socket, 'message');
  return socket;
}

async function flood(socket: WebSocket): Promise<void> {
  for (let sent = 0; socket.readyState === socket.OPEN; sent += 1) {
    await new Promise((resolve) => socket.send(messages[sent % messages.length]!, resolve));
  }
}

async function floodWithFragments(socket: WebSocket): Promise<void> {
  const { _socket: raw } = socket as unknown as { readonly _socket: Socket };
  raw.write(frame(0x01, 1));
  for (let sent = 0; sent < 5_000 && !raw.destroyed; sent += 1) {
    await new Promise((resolve) => raw.write(fragment, resolve));
  }
}

const opened = await Promise.all(Array.from({ length: Number(sessions) }, open)).catch(() => process.exit());
console.log('open');
await Promise.all(opened.map(kind === 'fragments' ? floodWithFragments : flood));
