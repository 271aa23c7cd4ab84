/** A client of a live session, which may also disappear without a word. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface LiveEvent {
  readonly type: string;
  readonly transcript?: string;
  readonly response?: { readonly status: string };
}

export interface LiveSession extends AsyncDisposable {
  say(event: object): void;
  /** Sends sound at once. */
  append(sound: Uint8Array, pieceMs: number): void;
  /** Sends sound as it is spoken. Returns early once the socket has closed. */
  speak(sound: Uint8Array, pieceMs: number): Promise<void>;
  /** The next event of this type. Rejects when the socket closes, or a turn fails, before. */
  next(type: string): Promise<LiveEvent>;
  /** The transcript of the next turn. */
  transcript(): Promise<string>;
  /** How many events of this type have arrived. */
  count(type: string): number;
  readonly isOpen: boolean;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  /** With a handshake, without one, or by reading and answering nothing from now on. */
  leave(how: 'close' | 'terminate' | 'freeze'): void;
  /** Reads again after `freeze`. */
  thaw(): void;
}

export const liveRate = 24_000;
const bytesPerMs = (liveRate * 2) / 1000;

const completed = 'conversation.item.input_audio_transcription.completed';

interface LiveSessionOptions {
  /** Default: a transcription session. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openLiveSession(
  { url }: { readonly url: string },
  { query = 'intent=transcription', headers = {} }: LiveSessionOptions = {},
): Promise<LiveSession> {
  const address = `${url.replace(/^http/, 'ws')}/v1/realtime?${query}`;
  const socket = new WebSocket(address, { headers, perMessageDeflate: false });
  const types: string[] = [];
  const received = new EventEmitter().setMaxListeners(0);
  received.on('error', () => undefined); // for those who wait for an event
  const gone = new AbortController();
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  void closed.then(() => gone.abort(new Error('the session has closed')));
  socket.on('error', (error) => received.emit('error', error));
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString()) as LiveEvent;
    types.push(event.type);
    if (event.type === 'error' || event.type.endsWith('.failed')) received.emit('error', new Error(data.toString()));
    else received.emit(event.type, event);
  });
  const session: LiveSession = {
    closed,
    get isOpen() {
      return socket.readyState === socket.OPEN;
    },
    say: (event) => socket.send(JSON.stringify(event)),
    append(sound, pieceMs) {
      const pieceBytes = pieceMs * bytesPerMs;
      for (let at = 0; at < sound.length; at += pieceBytes) {
        const audio = Buffer.from(sound.subarray(at, at + pieceBytes)).toString('base64');
        session.say({ type: 'input_audio_buffer.append', audio });
      }
    },
    async speak(sound, pieceMs) {
      const started = performance.now();
      for (let ms = 0; ms * bytesPerMs < sound.length; ms += pieceMs) {
        await wait(Math.max(0, started + ms - performance.now()));
        if (!session.isOpen) return;
        session.append(sound.subarray(ms * bytesPerMs, (ms + pieceMs) * bytesPerMs), pieceMs);
      }
    },
    async next(type) {
      const [event] = (await once(received, type, { signal: gone.signal })) as [LiveEvent];
      return event;
    },
    transcript: async () => (await session.next(completed)).transcript ?? '',
    count: (type) => types.filter((known) => known === type).length,
    leave(how) {
      if (how === 'close') socket.close();
      else if (how === 'terminate') socket.terminate();
      else socket.pause();
    },
    thaw: () => socket.resume(),
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await closed;
    },
  };
  await session.next('session.created');
  return session;
}

/** An update of `session.audio.input`. */
export const inputUpdate = (input: object) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
});

export const commitEvent = { type: 'input_audio_buffer.commit' };
