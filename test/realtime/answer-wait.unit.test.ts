/** How long a user waits for the answer to a turn. */
import { beforeEach, expect, it } from 'vitest';
import { AnswerWait } from '../../src/realtime/answer-wait.ts';

let wait: AnswerWait;
beforeEach(() => (wait = new AnswerWait()));

const committed = (turn: string, now: number) => wait.follow({ type: 'committed', turn }, now);
const completed = (turn: string, now: number) =>
  wait.follow({ type: 'completed', turn, transcript: 'Hi', seconds: 1 }, now);

it('is measured once, from the commit and from the transcript to the first sound', () => {
  committed('a', 1_000);
  completed('a', 1_300);
  wait.begin('r');
  expect(wait.part('r', 1_700)).toEqual({ transcription: 300, answer: 400, all: 700 });
  expect(wait.part('r', 1_800)).toBeUndefined();
});

it('is that of the last turn, if two are answered together', () => {
  committed('a', 1_000);
  committed('b', 2_000);
  completed('a', 2_100);
  wait.begin('early');
  completed('b', 2_200);
  wait.begin('r');
  expect(wait.part('early', 2_300)).toBeUndefined();
  expect(wait.part('r', 2_500)).toEqual({ transcription: 200, answer: 300, all: 500 });
});

it('does not end with the sound of another response, or of an answer without a turn', () => {
  wait.begin('greeting');
  expect(wait.part('greeting', 500)).toBeUndefined();
  committed('a', 1_000);
  expect(wait.part('greeting', 1_100)).toBeUndefined();
  completed('a', 1_300);
  expect(wait.part('greeting', 1_350)).toBeUndefined();
  wait.begin('r');
  wait.begin('beside');
  expect(wait.part('beside', 1_400)).toBeUndefined();
  expect(wait.part('r', 1_500)).toMatchObject({ all: 500 });
});

it('is short if the last answer came soon after its transcript, and unknown before the first one', () => {
  const answered = (turn: string, ms: number) => {
    committed(turn, 1_000);
    completed(turn, 3_000);
    wait.begin(turn);
    wait.part(turn, 3_000 + ms);
    return wait.isShort;
  };
  expect(wait.isShort).toBe(false);
  expect([1_500, 1_501, 0].map((ms) => answered(`of ${ms}`, ms))).toEqual([true, false, true]);
});
