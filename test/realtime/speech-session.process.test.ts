/** Sessions whose turns real whisper.cpp transcribes: words of the tone model, in turns by level and by commits. */
import { expect, it, onTestFinished } from 'vitest';
import { startLocalService } from '../support/local-service.ts';
import { describeWith } from '../support/programs.ts';
import { tonePcm, type Word } from '../support/tone-model.ts';
import { byHand, openSpeech, told, usual } from './support.ts';

/** The model expects half a second without a word first. */
const byLevel = { ...usual, detection: { ...usual.detection!, prefixMs: 500 } };

const say = (rate: number, ...words: Word[]): Buffer => Buffer.from(tonePcm({ words, rate, tailSeconds: 0.7 }).buffer);

const transcripts = (events: readonly string[]): string[] =>
  events.filter((event) => event.includes('completed')).toSorted();

describeWith(['whisper-cli'], 'words', () => {
  it.each([8_000, 48_000])('at %i Hz are transcribed in turns by level and by commits', async (rate) => {
    const service = await startLocalService();
    onTestFinished(() => service[Symbol.asyncDispose]());
    const { registry } = service.service;
    const format = { encoding: 'pcm', rate } as const;
    const [one, two] = [say(rate, 'alpha', 'bravo'), say(rate, 'kilo', 'echo', 'golf')];

    const live = await openSpeech(registry, { options: { ...byLevel, format } });
    await live.speech.append(Buffer.concat([one, two]));
    await live.ended(2);
    expect(transcripts(told(live.events))).toEqual(['1 completed alpha bravo', '2 completed kilo echo golf']);

    const pushed = await openSpeech(registry, { options: { ...byHand, format } });
    for (const words of [one, two]) {
      await pushed.speech.append(words.subarray(0, 10_001));
      await pushed.speech.append(words.subarray(10_001));
      await pushed.speech.commit();
    }
    await pushed.ended(2);
    expect(transcripts(told(pushed.events))).toEqual(['1 completed alpha bravo', '2 completed kilo echo golf']);
  });
});
