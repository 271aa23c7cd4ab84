/** Hands-free mode: its states, what is recorded in each, and the words it shows. */
import { describe, expect, test } from 'vitest';
import { isEcho } from '../../page/echo.ts';
import { canInterrupt, isOpen, onPress, stateOf, type Facts, type HandsFree } from '../../page/hands-free-state.ts';
import { lastWords } from '../../page/last-words.ts';

const off: Facts = { microphone: 'off', isMuted: false, isRecording: false, isAtWork: false, isSpeaking: false };
const on: Facts = { ...off, microphone: 'on' };

const states = {
  off,
  asking: { ...off, microphone: 'asking' },
  listening: on,
  hearing: { ...on, isRecording: true },
  thinking: { ...on, isAtWork: true },
  speaking: { ...on, isSpeaking: true },
  muted: { ...on, isMuted: true },
  failed: { ...off, microphone: 'failed' },
} satisfies Record<HandsFree, Facts>;

describe('the states', () => {
  const events = {
    allowed: { microphone: 'on' },
    voice: { isRecording: true },
    pause: { isRecording: false, isAtWork: true },
    sound: { isSpeaking: true },
    end: { isAtWork: false, isSpeaking: false },
    mute: { isMuted: true },
    unmute: { isMuted: false },
    gone: { microphone: 'failed', isRecording: false },
  } as const satisfies Record<string, Partial<Facts>>;

  const table: Record<HandsFree, Record<keyof typeof events, HandsFree>> = {
    off: {
      ...{ allowed: 'listening', voice: 'off', pause: 'off', sound: 'off' },
      ...{ end: 'off', mute: 'off', unmute: 'off', gone: 'failed' },
    },
    asking: {
      ...{ allowed: 'listening', voice: 'asking', pause: 'asking', sound: 'asking' },
      ...{ end: 'asking', mute: 'asking', unmute: 'asking', gone: 'failed' },
    },
    listening: {
      ...{ allowed: 'listening', voice: 'hearing', pause: 'thinking', sound: 'speaking' },
      ...{ end: 'listening', mute: 'muted', unmute: 'listening', gone: 'failed' },
    },
    hearing: {
      ...{ allowed: 'hearing', voice: 'hearing', pause: 'thinking', sound: 'hearing' },
      ...{ end: 'hearing', mute: 'muted', unmute: 'hearing', gone: 'failed' },
    },
    thinking: {
      ...{ allowed: 'thinking', voice: 'hearing', pause: 'thinking', sound: 'speaking' },
      ...{ end: 'listening', mute: 'thinking', unmute: 'thinking', gone: 'thinking' },
    },
    speaking: {
      ...{ allowed: 'speaking', voice: 'hearing', pause: 'speaking', sound: 'speaking' },
      ...{ end: 'listening', mute: 'speaking', unmute: 'speaking', gone: 'speaking' },
    },
    muted: {
      ...{ allowed: 'muted', voice: 'muted', pause: 'thinking', sound: 'speaking' },
      ...{ end: 'muted', mute: 'muted', unmute: 'listening', gone: 'failed' },
    },
    failed: {
      ...{ allowed: 'listening', voice: 'failed', pause: 'thinking', sound: 'speaking' },
      ...{ end: 'failed', mute: 'failed', unmute: 'failed', gone: 'failed' },
    },
  };

  test.each(Object.keys(states) as HandsFree[])('after %s', (state) => {
    expect(stateOf(states[state])).toBe(state);
    const after = Object.entries(events).map(([event, facts]) => [event, stateOf({ ...states[state], ...facts })]);
    expect(Object.fromEntries(after)).toEqual(table[state]);
  });
});

test.each([
  ['off', false, false, undefined],
  ['asking', false, false, undefined],
  ['listening', true, true, undefined],
  ['hearing', true, true, undefined],
  ['thinking', false, false, 'interrupt'],
  ['speaking', false, true, 'interrupt'],
  ['muted', false, false, undefined],
  ['failed', false, false, 'retry'],
] as const)(
  '%s: what is recorded, and what the large button does',
  (state, isRecorded, isRecordedIfItInterrupts, press) => {
    expect(isOpen({ state, isMuted: false, canInterrupt: false })).toBe(isRecorded);
    expect(isOpen({ state, isMuted: false, canInterrupt: true })).toBe(isRecordedIfItInterrupts);
    expect(isOpen({ state, isMuted: true, canInterrupt: true })).toBe(false);
    expect(onPress(state)).toBe(press);
  },
);

test('a voice interrupts by default only if the browser cancels the echo', () => {
  const may = (mode: 'automatic' | 'always' | 'never') => [canInterrupt(mode, false), canInterrupt(mode, true)];
  expect([may('automatic'), may('always'), may('never')]).toEqual([
    [false, true],
    [true, true],
    [false, false],
  ]);
});

describe('an echo of the answer', () => {
  const said = 'The tower is 330 meters tall. It was finished in 1889, for the World’s Fair in Paris.';

  test.each([
    ['is recognized', 'it was finished in 1889 for the world’s fair', true],
    ['is recognized by its middle', 'so was finished in 1889 for the world’s fare', true],
    ['is not a repeated word', 'In Paris?', false],
    ['is not another sentence', 'Was it finished before the war in 1889, for Paris?', false],
    ['is not silence', '', false],
  ])('%s', (_what, transcript, isIt) => {
    expect(isEcho(transcript, said)).toBe(isIt);
  });

  test('is not recognized where nothing was said', () => {
    expect(isEcho('a long sentence of the user', '')).toBe(false);
  });
});

describe('the last words', () => {
  test.each([
    ['a short text', 'Good morning.', 'Good morning.'],
    ['Markdown', '# Title\n\n- **one**\n- two', 'Title one two'],
    ['a long text, from a whole word on', 'one two three four five six', '… four five six'],
    ['a text without spaces', '一'.repeat(30), `… ${'一'.repeat(16)}`],
    ['half of an emoji', `${'a'.repeat(50)}${'😀'.repeat(8)}.`, `… ${'😀'.repeat(7)}.`],
  ])('of %s', (_what, text, shown) => {
    expect(lastWords(text, 16)).toBe(shown);
  });
});
