/** Asks the model and streams the answer. Only one run is active at a time. */
import { batch, computed, signal } from '@preact/signals';
import type { ChatEvent } from '../src/client/index.ts';
import {
  applyEvent,
  fail,
  isRunning,
  messagesOf,
  newAnswer,
  stop,
  textOf,
  type About,
  type Answer,
  type Question,
  type Turn,
} from './conversation-state.ts';
import { takeAbout } from './about.ts';
import { askIfRefused } from './key.ts';
import { canSpeak, chosen } from './listings.ts';
import { paced } from './paced.ts';
import { plainTextOf } from './plain-text.ts';
import { preferences } from './preferences.ts';
import { client, clipUrl } from './service.ts';
import { enqueue, stopPlayback } from './playback.ts';
import { readAloud, Reading } from './reading.ts';
import { announce } from './announcements.ts';

export const turns = signal<readonly Turn[]>([]);
export const isAnswering = computed(() => turns.value.some(isRunning));

let run: AbortController | undefined;
let lastId = 0;

/** Stops a running answer, and starts a new run. Resolves when the new run has ended, even if it failed. */
export async function ask(text: string, isHandsFree = false): Promise<void> {
  stopAnswer();
  await askAfter(turns.value, { text, ...aboutOf(takeAbout()) }, isHandsFree);
}

/**
 * Asks a new question instead of an earlier one. Everything after the earlier one is removed, and a running answer is
 * stopped.
 */
export async function askInstead(question: Question, text: string): Promise<void> {
  const at = turns.value.indexOf(question);
  if (at < 0) return;
  stopAnswer();
  await askAfter(turns.value.slice(0, at), { text, ...aboutOf(question.about) }, false);
}

/** Asks the last question again. */
export async function askAgain(): Promise<void> {
  const [question, last] = turns.value.slice(-2);
  if (isAnswering.value || question?.role !== 'user' || last?.role !== 'assistant') return;
  turns.value = turns.value.slice(0, -1);
  await answer(false);
}

const aboutOf = (about: About | undefined) => (about ? { about } : {});

async function askAfter(
  earlier: readonly Turn[],
  { text, about }: Pick<Question, 'text' | 'about'>,
  isHandsFree: boolean,
): Promise<void> {
  if (text.trim() === '') return;
  await batch(() => {
    turns.value = [...earlier, { role: 'user', id: newTurnId(), text: text.trim(), ...aboutOf(about) }];
    return answer(isHandsFree);
  });
}

/** Ends the answer and all speech immediately. */
export function stopAnswer(): void {
  run?.abort();
  if (isAnswering.value) {
    announce('Stopped.'); // announced before the next action of the page
    turns.value = turns.value.map((turn) => (isRunning(turn) ? stop(turn) : turn));
  }
  stopPlayback();
}

/** Ids are unique in the page: they identify the elements on the page. */
export const newTurnId = (): number => ++lastId;

/** Restores a conversation from the library or after an undo. */
export function restore(kept: readonly Turn[]): void {
  turns.value = kept;
}

export function startOver(): void {
  stopAnswer();
  turns.value = [];
}

async function answer(isHandsFree: boolean): Promise<void> {
  const { signal } = (run = new AbortController());
  const { chat, speech, voice } = chosen.value;
  const { systemPrompt, temperature } = preferences.value;
  const request = {
    messages: messagesOf(turns.value, systemPrompt),
    ...(chat && { model: chat.id }),
    ...(temperature !== undefined && { temperature }),
    ...(speech?.available === true && { tts_model: speech.id, ...(voice !== undefined && { voice_id: voice }) }),
  };
  const id = newTurnId();
  turns.value = [...turns.value, newAnswer(id)];
  announce('Answering.');
  stopPlayback();
  const reading = shouldRead(isHandsFree) ? new Reading(soundOf(id)) : undefined;
  try {
    for await (const event of paced(client.value.streamChat(request, { signal }))) {
      signal.throwIfAborted();
      change(id, (answer) => applyEvent(answer, event));
      speak(event, reading);
    }
  } catch (error) {
    askIfRefused(error);
    if (!signal.aborted) change(id, (answer) => fail(answer, error));
  }
  finish(id, reading, isHandsFree);
}

const shouldRead = (isHandsFree: boolean) => (preferences.value.readAloud ?? isHandsFree) && canSpeak.value;

/** A clip replaces the reading: the model has chosen what the user hears. */
function speak(event: ChatEvent, reading: Reading | undefined): void {
  switch (event.type) {
    case 'content.delta':
      return reading?.write(event.delta);
    case 'tool.started':
    case 'chat.completed':
      return reading?.flush();
    case 'audio.created':
      reading?.breakOff();
      void enqueue({ id: event.audio.id, url: clipUrl(event.audio.id) });
  }
}

function finish(id: number, reading: Reading | undefined, isHandsFree: boolean): void {
  const answer = turns.value.find((turn): turn is Answer => turn.role === 'assistant' && turn.id === id);
  if (answer?.state !== 'done') return; // a failure announces itself
  const text = textOf(answer).trim();
  const hasClip = answer.parts.some(({ kind }) => kind === 'clip');
  // The user may have asked for speech since the answer began.
  const isUnread = !reading && shouldRead(isHandsFree) && text !== '';
  if (isUnread && !hasClip) readAloud(soundOf(answer.id), text);
  // A screen reader would talk over the voice.
  announce(hasClip || isUnread || reading?.isHeard ? '' : `Answer: ${plainTextOf(text)}`);
}

/** Identifies the sound of an answer. */
export const soundOf = (id: number): string => `answer-${id}`;

function change(id: number, update: (answer: Answer) => Answer): void {
  turns.value = turns.value.map((turn) => (turn.role === 'assistant' && turn.id === id ? update(turn) : turn));
}
