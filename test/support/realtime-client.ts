/** A client of `GET /v1/realtime` that holds every session against the laws. */
import { expect, onTestFinished } from 'vitest';
import { recordUpgrade } from '../contract/coverage/recorder.ts';
import { breachesOf, type WireEvent } from './realtime-laws.ts';

export interface LiveSession {
  readonly events: readonly WireEvent[];
  say(event: object): void;
  /** Sends sound in pieces; by default in one. */
  sound(bytes: Uint8Array, pieceBytes?: number): void;
  /** Resolves with all events of the type, once there are so many. Rejects when the socket closes before. */
  until(type: string, count?: number): Promise<readonly WireEvent[]>;
  leave(): void;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
}

export const transcription = 'conversation.item.input_audio_transcription.';

export async function openLiveSession(
  { url }: { readonly url: string },
  query = 'intent=transcription',
  token?: string,
): Promise<LiveSession> {
  const protocols = ['realtime', ...(token === undefined ? [] : [`openai-insecure-api-key.${token}`])];
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/realtime?${query}`, protocols);
  const events: WireEvent[] = [];
  const sentIds: string[] = [];
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code));
  });
  const isClosed = () => socket.readyState === WebSocket.CLOSED;
  let wake = Promise.withResolvers<undefined>();
  socket.addEventListener('message', ({ data }) => {
    events.push(JSON.parse(data as string) as WireEvent);
    wake.resolve(undefined);
    wake = Promise.withResolvers();
  });
  onTestFinished(async () => {
    socket.close();
    await closed;
    const count = (types: RegExp) => events.filter(({ type }) => types.test(type)).length;
    const hasTranscripts = count(/\.(completed|failed)$/) >= count(/^input_audio_buffer\.committed$/);
    const isWhole = hasTranscripts && count(/^response\.done$/) >= count(/^response\.created$/);
    expect(breachesOf(events, { isWhole, sentIds })).toEqual([]);
  });

  const session: LiveSession = {
    events,
    closed,
    leave: () => socket.close(),
    say(event) {
      const { event_id: id } = event as { readonly event_id?: string };
      if (id !== undefined) sentIds.push(id);
      socket.send(JSON.stringify(event));
    },
    sound(bytes, pieceBytes = bytes.length) {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const audio = Buffer.from(bytes.subarray(at, at + pieceBytes)).toString('base64');
        session.say({ type: 'input_audio_buffer.append', audio });
      }
    },
    async until(type, count = 1) {
      for (;;) {
        const found = events.filter((event) => event.type === type);
        if (found.length >= count) return found;
        await Promise.race([wake.promise, closed]);
        if (isClosed()) throw new Error(`closed with ${await closed}: ${JSON.stringify(events)}`);
      }
    },
  };
  await session.until('session.created');
  recordUpgrade('/v1/realtime', 101);
  return session;
}

/** An update of `session.audio.input`. */
export const inputUpdate = (input: object) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
});

export const commitEvent = { type: 'input_audio_buffer.commit' };
