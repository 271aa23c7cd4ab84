/** Asks the model and streams the answer. One run at a time. */
import { computed, signal } from '@preact/signals';
import {
  applyEvent,
  fail,
  isRunning,
  messagesOf,
  newAnswer,
  stop,
  textOf,
  type Answer,
  type Turn,
} from './conversation-state.ts';
import { isKeyRefused } from './failure.ts';
import { isKeyAsked } from './key.ts';
import { canSpeak, chosen } from './listings.ts';
import { preferences } from './preferences.ts';
import { client, clipUrl } from './service.ts';
import { enqueue, readAloud } from './playback.ts';
import { announce } from './announcements.ts';

export const turns = signal<readonly Turn[]>([]);
export const isAnswering = computed(() => turns.value.some(isRunning));

let run: AbortController | undefined;
let lastId = 0;

/** Resolves when the run has ended, even if it failed. */
export async function ask(text: string, isHandsFree = false): Promise<void> {
  if (isAnswering.value || text.trim() === '') return;
  turns.value = [...turns.value, { role: 'user', id: ++lastId, text: text.trim() }];
  await answer(isHandsFree);
}

/** Asks the last question again. */
export async function askAgain(): Promise<void> {
  if (isAnswering.value || turns.value.at(-1)?.role !== 'assistant') return;
  turns.value = turns.value.slice(0, -1);
  await answer(false);
}

export function stopAnswer(): void {
  run?.abort();
}

/** Brings back a conversation after a reload or an undo. */
export function restore(kept: readonly Turn[]): void {
  turns.value = kept;
  lastId = Math.max(lastId, kept.at(-1)?.id ?? 0);
}

export function startOver(): void {
  stopAnswer();
  turns.value = [];
}

async function answer(isHandsFree: boolean): Promise<void> {
  const { signal } = (run = new AbortController());
  const { chat, speech, voice } = chosen.value;
  const request = {
    messages: messagesOf(turns.value),
    ...(chat && { model: chat.id }),
    ...(speech?.available === true && { tts_model: speech.id, ...(voice !== undefined && { voice_id: voice }) }),
  };
  const id = ++lastId;
  turns.value = [...turns.value, newAnswer(id)];
  announce('Answering.');
  try {
    for await (const event of client.value.streamChat(request, { signal })) {
      change(id, (answer) => applyEvent(answer, event));
      if (event.type === 'audio.created') enqueue({ id: event.audio.id, url: clipUrl(event.audio.id) });
    }
  } catch (error) {
    if (isKeyRefused(error)) isKeyAsked.value = true;
    change(id, (answer) => (signal.aborted ? stop(answer) : fail(answer, error)));
  }
  finish(id, isHandsFree);
}

function finish(id: number, isHandsFree: boolean): void {
  const answer = turns.value.find((turn): turn is Answer => turn.role === 'assistant' && turn.id === id);
  if (!answer) return; // the conversation was started over
  if (answer.state === 'stopped') announce('Stopped.');
  if (answer.state !== 'done') return; // a failure announces itself
  const text = textOf(answer).trim();
  announce(`Answer: ${text}`);
  const isSpoken = answer.parts.some(({ kind }) => kind === 'clip');
  const shouldRead = preferences.value.readAloud ?? isHandsFree;
  if (shouldRead && !isSpoken && canSpeak.value && text !== '') void readAloud(soundOf(answer), text);
}

/** Identifies the sound of an answer. */
export const soundOf = ({ id }: Answer): string => `answer-${id}`;

function change(id: number, update: (answer: Answer) => Answer): void {
  turns.value = turns.value.map((turn) => (turn.role === 'assistant' && turn.id === id ? update(turn) : turn));
}
