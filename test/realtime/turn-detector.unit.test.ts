/** Where turns begin and end: by level alone, with a detector's answers, and by the client's commits. */
import { describe, expect, it } from 'vitest';
import type { Span } from '../../engines/contract/index.ts';
import {
  newTurnState,
  next,
  type TurnDetection,
  type TurnEffect,
  type DetectorEvent,
} from '../../src/realtime/turn-detector.ts';
import fc from '../support/fast-check.ts';

const usual: TurnDetection = { threshold: 0.5, prefixMs: 300, silenceMs: 500 };
const [quiet, voice] = [-65, -15];

type Part = readonly [db: number, ms: number];

const sound = (...parts: readonly Part[]): DetectorEvent[] =>
  parts.flatMap(([db, ms]) => Array.from({ length: ms / 20 }, () => ({ type: 'frame', db, ms: 20 }) as const));

/** The effects, with the time of the sound; `speech` is what the detector finds, and undefined without one. */
function run(
  events: readonly DetectorEvent[],
  {
    detection = usual,
    ask,
  }: { detection?: TurnDetection | null; ask?: (now: number) => readonly Span[] | undefined } = {},
) {
  let state = newTurnState(detection, { hasDetector: ask !== undefined });
  const effects: ((TurnEffect | { readonly type: 'clear' }) & { readonly at: number })[] = [];
  const apply = (event: DetectorEvent) => {
    const step = next(state, event);
    state = step.state;
    if (event.type === 'clear') effects.push({ type: 'clear', at: state.gate.now });
    for (const effect of step.effects) {
      effects.push({ ...effect, at: state.gate.now });
      if (effect.type === 'ask') apply({ type: 'answer', speech: ask?.(state.gate.now) });
    }
  };
  for (const event of events) apply(event);
  return effects;
}

/** As text, without questions and voices: `started 700` is the time of the effect. */
const told = (...args: Parameters<typeof run>) =>
  run(...args)
    .filter(({ type }) => !['ask', 'record', 'clear', 'voice'].includes(type))
    .map((effect) => ('ms' in effect ? `${effect.type} ${effect.ms}` : effect.type));

const turn = (from: number, to: number, { pauses = 1 } = {}) => [
  `started ${from}`,
  ...Array<string[]>(pauses).fill(['pause', 'resume']).flat().slice(0, -1),
  `stopped ${to}`,
  'commit',
];

describe('a turn by level', () => {
  it('begins before its first voice and ends with its silence', () => {
    const events = sound([quiet, 1_000], [voice, 1_000], [quiet, 1_000]);
    expect(told(events)).toEqual(turn(700, 2_500));
    expect(run(events).find(({ type }) => type === 'record')).toEqual({ type: 'record', fromMs: 700, at: 1_120 });
  });

  it('has pauses that are shorter than the silence', () => {
    const words: Part[] = [[voice, 400], [quiet, 300], [voice, 400], [quiet, 300], [voice, 400], [quiet, 300]]; // prettier-ignore
    expect(told(sound([quiet, 1_000], ...words, [voice, 400], [quiet, 500]))).toEqual(turn(700, 4_000, { pauses: 4 }));
  });

  it('has nothing of the turn before it', () => {
    const events = sound([quiet, 1_000], [voice, 400], [quiet, 500], [quiet, 100], [voice, 400], [quiet, 500]);
    expect(told(events)).toEqual([...turn(700, 1_900), ...turn(1_900, 2_900)]);
  });

  it('has no prefix before the start of the session', () => {
    expect(told(sound([voice, 400], [quiet, 500]))).toEqual(turn(0, 900));
  });

  it('ends after 60 s, and the next one continues', () => {
    const speech = Array.from({ length: 140 }, (): Part[] => [[voice, 400], [quiet, 100]]).flat(); // prettier-ignore
    expect(told(sound([quiet, 1_000], ...speech, [quiet, 500]))).toEqual(
      ['started 700', 'stopped 60700', 'commit', 'started 60700', 'pause', 'stopped 71400', 'commit'], // prettier-ignore
    );
  });

  it.each([
    [0, -57, 1],
    [0.5, -57, 0],
    [0.5, -51, 1],
    [1, -51, 0],
    [1, -45, 1],
  ])('with threshold %d takes a voice of %i dB in a room of -64 dB for %i turns', (threshold, db, count) => {
    // The quietest threshold is -52 dB in every room.
    const louder = 20;
    const events = sound([quiet + louder + 1, 3_000], [db + louder, 1_000], [quiet + louder + 1, 1_000]);
    const detection = { ...usual, threshold };
    expect(run(events, { detection }).filter(({ type }) => type === 'commit')).toHaveLength(count);
  });

  it('with less than 250 ms of voice has no speech', () => {
    const commits = (ms: number) => run(sound([quiet, 1_000], [voice, ms], [quiet, 500])).at(-1);
    expect(commits(240)).toMatchObject({ type: 'commit', hasSpeech: false });
    expect(commits(260)).toMatchObject({ type: 'commit', hasSpeech: true });
  });

  it('ends when no more sound arrives', () => {
    const events = sound([quiet, 1_000], [voice, 400], [quiet, 100]);
    expect(told([...events, { type: 'stall' }])).toEqual(['started 700', 'stopped 1500', 'commit']);
  });

  it('ends with a commit of the client, and is not committed twice', () => {
    const events = sound([quiet, 1_000], [voice, 400]);
    expect(told([...events, { type: 'commit' }, { type: 'commit' }])).toEqual([
      'started 700',
      'stopped 1400',
      'commit',
    ]);
  });

  it('is forgotten by a clear, and no later one begins before it', () => {
    const events = sound([quiet, 1_000], [voice, 400]);
    const later = sound([quiet, 100], [voice, 400], [quiet, 500]);
    expect(told([...events, { type: 'clear' }, ...later])).toEqual(['started 700', 'forget', ...turn(1_400, 2_400)]);
  });
});

describe('with a detector', () => {
  /** A detector with 300 ms around the speech, which is found after 200 ms. */
  const finds =
    (...speech: readonly (readonly [from: number, to: number])[]) =>
    (now: number): Span[] =>
      speech
        .filter(([from, to]) => now >= from + 200 && to + 300 > now - 2_000)
        .map(([from, to]) => ({ startMs: from - 300, endMs: Math.min(now, to + 300) }));

  it('silence is never asked about', () => {
    expect(run(sound([quiet, 10_000]), { ask: finds() })).toEqual([]);
  });

  it('a turn begins with speech', () => {
    const events = sound([quiet, 1_000], [voice, 1_000], [quiet, 1_000]);
    const effects = run(events, { ask: finds([1_000, 2_000]) });
    expect(effects.filter(({ type }) => type === 'ask').map(({ at }) => at)).toEqual([1_120, 1_220, 1_520, 1_820, 2_120, 2_420]); // prettier-ignore
    expect(told(events, { ask: finds([1_000, 2_000]) })).toEqual(turn(700, 2_500));
  });

  it('noise begins no turn', () => {
    const ask = finds();
    expect(told(sound([quiet, 1_000], [voice, 10_000], [quiet, 1_000]), { ask })).toEqual([]);
  });

  it('a noise that begins with the speech does not hold the turn', () => {
    const events = sound([quiet, 1_000], [voice, 1_000], [voice + 5, 2_000]);
    expect(told(events, { ask: finds([1_000, 2_000]) })).toEqual(['started 700', 'stopped 2800', 'commit']);
  });

  it('speech after a long noise begins its turn at the speech', () => {
    const events = sound([quiet, 1_000], [voice, 2_500]);
    expect(told(events, { ask: finds([2_000, 3_500]) })).toEqual(['started 1400']);
  });

  it('a short word is speech', () => {
    const ask = finds([1_000, 1_150]);
    expect(run(sound([quiet, 1_000], [voice, 140], [quiet, 600]), { ask }).at(-1)).toMatchObject({ hasSpeech: true });
  });

  it('that does not answer, the level decides, after three times for the rest of the session', () => {
    const speech: Part[] = [[quiet, 1_000], [voice, 1_000], [quiet, 1_000]]; // prettier-ignore
    const effects = run(sound(...speech, ...speech), { ask: () => undefined });
    expect(effects.filter(({ type }) => type === 'ask')).toHaveLength(3);
    expect(effects.flatMap((effect) => ('ms' in effect ? [effect.ms] : []))).toEqual([700, 2_500, 3_700, 5_500]);
  });
});

describe('while an answer is playing', () => {
  /** The mean of the levels below. */
  const answerDb = -17;
  const during = (...parts: readonly Part[]): DetectorEvent[] =>
    sound(...parts).map((event) => (event.type === 'frame' ? { ...event, answerDb } : event));
  const always = (now: number) => [{ startMs: now - 300, endMs: now }];
  /** Words and pauses of different levels. */
  const words: Part[] = [-14, -22, -17, -30, -15, -19, -14, -25].flatMap((db) => [[db, 280], [db - 30, 120]] as const); // prettier-ignore
  const echo = words.map(([db, ms]): Part => [db - 20, ms]);

  it.each<[string, readonly Part[]]>([
    ['a click of 60 ms', [[-5, 60]]], // prettier-ignore
    ['clicks of 60 ms', Array.from({ length: 20 }, (): Part[] => [[-5, 60], [quiet, 140]]).flat()], // prettier-ignore
    ['a noise of 200 ms', [[-5, 200]]], // prettier-ignore
    ['its own sound, 20 dB lower', echo],
    ['a tone of its own, 20 dB lower', [[answerDb - 20, 3_000]]], // prettier-ignore
  ])('%s interrupts nothing, whatever the detector finds', (_what, parts) => {
    const events = during([quiet, 1_000], ...parts, [quiet, 1_000]);
    expect(told(events)).toEqual([]);
    expect(told(events, { ask: always })).toEqual([]);
  });

  it.each([-50, -40, -30])('a steady noise of %i dB interrupts nothing', (db) => {
    expect(told(during([db, 10_000]))).toEqual([]);
    expect(told(during([db, 10_000]), { ask: always })).toEqual([]);
  });

  it('speech interrupts after 240 ms by level', () => {
    const starts = (events: readonly DetectorEvent[], ask?: (now: number) => Span[]) =>
      run(events, ask && { ask }).flatMap(({ type, at }) => (type === 'started' ? [at] : []));
    const speech: Part[] = [[quiet, 1_000], [voice, 1_000], [quiet, 1_000]]; // prettier-ignore
    expect(starts(during(...speech))).toEqual([1_240]);
    expect(starts(during(...speech), always)).toEqual([1_340]);
    expect(starts(sound(...speech), always)).toEqual([1_120]);
    expect(told(during(...speech))).toEqual(turn(700, 2_500));
  });

  it('speech that the detector finds only now and then does not interrupt', () => {
    let asked = 0;
    const ask = (now: number) => (asked++ % 2 === 0 ? always(now) : []);
    expect(told(during([quiet, 1_000], [voice, 3_000]), { ask })).toEqual([]);
    expect(asked).toBeGreaterThan(10);
  });

  it.each([-120, quiet, -30])('a voice of -18 dB interrupts in a room of %i dB, however loud the answer is', (db) => {
    const loud = sound([db, 1_000], [-18, 1_000]).map((event) => ({ ...event, answerDb: 0 }) as DetectorEvent);
    expect(told(loud)).toEqual(['started 700']);
  });
});

describe('a detector that is too slow', () => {
  it('is asked again after a minute of turns by level, and decides', () => {
    const asked: number[] = [];
    let isLate = true;
    const ask = (now: number) => {
      asked.push(now);
      return isLate ? undefined : [];
    };
    let state = newTurnState(usual, { hasDetector: true });
    const starts: number[] = [];
    const apply = (event: DetectorEvent): void => {
      const step = next(state, event);
      state = step.state;
      for (const { type } of step.effects) {
        if (type === 'started') starts.push(state.gate.now);
        if (type === 'ask') apply({ type: 'answer', speech: ask(state.gate.now) });
      }
    };
    const say = (...parts: readonly Part[]) => sound(...parts).forEach(apply);
    say([quiet, 1_000], [voice, 1_000], [quiet, 1_000]);
    expect([asked.length, starts.length]).toEqual([3, 1]);
    const lateAt = asked[2]!;
    isLate = false;
    say([quiet, 50_000], [voice, 200], [quiet, 1_000]);
    expect([asked.length, starts.length]).toEqual([3, 2]);
    say([quiet, 9_000], [voice, 1_000]);
    expect(asked[3]).toBeGreaterThanOrEqual(lateAt + 60_000);
    expect(starts).toHaveLength(2);
  });
});

describe('turns that the client commits', () => {
  const options = { detection: null };

  it('have all sound since the last one', () => {
    const events = [...sound([quiet, 500]), { type: 'commit' } as const, ...sound([voice, 500])];
    expect(run([...events, { type: 'commit' }], options)).toEqual([
      { type: 'record', fromMs: 0, at: 20 },
      { type: 'commit', hasSpeech: true, at: 500 },
      { type: 'record', fromMs: 500, at: 520 },
      { type: 'voice', at: 520 },
      { type: 'commit', hasSpeech: true, at: 1_000 },
    ]);
  });

  it('of less than 100 ms wait for more', () => {
    const short = [...sound([voice, 80]), { type: 'commit' } as const];
    expect(told(short, options)).toEqual([]);
    expect(told([...short, ...short], options)).toEqual(['commit']);
  });

  it('take ten minutes of sound, and say once that they are full', () => {
    const events = [...sound([voice, 610_000]), { type: 'commit' } as const];
    expect(run(events, options).map(({ type, at }) => `${type} ${at}`)).toEqual(['record 20', 'voice 20', 'full 600000', 'commit 610000']); // prettier-ignore
  });

  it('have a voice once, and none in silence, also after the client has changed who ends them', () => {
    const voices = (...parts: readonly Part[]) =>
      run(sound(...parts), options).flatMap(({ type, at }) => (type === 'voice' ? [at] : []));
    expect(voices([quiet, 5_000])).toEqual([]);
    expect(voices([quiet, 1_000], [voice, 200], [quiet, 200], [voice, 200])).toEqual([1_020]);
    const byLevel = { type: 'configure', detection: usual } as const;
    const byHand = { type: 'configure', detection: null } as const;
    const changed = [...sound([quiet, 500]), byLevel, byHand, ...sound([quiet, 500]), byLevel];
    expect(run(changed, options).map(({ type }) => type)).toEqual(['record', 'forget', 'record', 'forget']);
  });

  it('are turns by level from the moment on that the client asks for it', () => {
    const configure = { type: 'configure', detection: usual } as const;
    const speech = [...sound([quiet, 200], [voice, 400]), configure, ...sound([quiet, 500])];
    expect(told(speech, options)).toEqual(turn(0, 1_100));
    expect(told([...sound([quiet, 600]), configure, ...sound([voice, 200], [quiet, 500])], options)).toEqual(['forget', ...turn(300, 1_300, { pauses: 0 })]); // prettier-ignore
  });

  it('have the sound of a turn that was open before', () => {
    const configure = { type: 'configure', detection: null } as const;
    const events = [...sound([voice, 400]), configure, ...sound([quiet, 5_000]), { type: 'commit' } as const];
    expect(told(events)).toEqual(['started 0', 'stopped 5400', 'commit']);
  });
});

describe('whatever happens', () => {
  const level = fc.constantFrom(-120, -65, -45, -30, -20, -5);
  const detection = fc.option(
    fc.record({
      threshold: fc.double({ min: 0, max: 1, noNaN: true }),
      prefixMs: fc.integer({ min: 0, max: 2_000 }),
      silenceMs: fc.integer({ min: 100, max: 5_000 }),
    }),
  );
  const frames = fc
    .tuple(level, fc.integer({ min: 1, max: 200 }), fc.constantFrom(20, 20.045, 13), fc.option(level))
    .map(([db, count, ms, answerDb]) =>
      Array.from({ length: count }, () => ({ type: 'frame', db, ms, answerDb: answerDb ?? undefined }) as const),
    );
  const long = level.map((db) => Array.from({ length: 3_100 }, () => ({ type: 'frame', db, ms: 20 }) as const));
  const other: fc.Arbitrary<DetectorEvent[]> = fc.oneof(
    fc.constantFrom<DetectorEvent[]>([{ type: 'commit' }], [{ type: 'clear' }], [{ type: 'stall' }]),
    detection.map((one): DetectorEvent[] => [{ type: 'configure', detection: one }]),
  );
  const events = fc
    .array(fc.oneof({ weight: 12, arbitrary: frames }, { weight: 4, arbitrary: other }, { weight: 1, arbitrary: long }))
    .map((parts) => parts.flat());
  const answers = fc.array(fc.option(fc.tuple(fc.nat(2_000), fc.nat(2_000))), { minLength: 1 });

  it('turns follow each other, each ends once, and no sound is in two of them', () => {
    fc.assert(
      fc.property(detection, events, fc.option(answers), (first, given, replies) => {
        let asked = 0;
        const ask = (now: number) => {
          const reply = replies?.[asked++ % replies.length];
          if (!reply) return undefined;
          const [startMs, endMs] = reply.map((ms) => now - ms).toSorted((a, b) => a - b) as [number, number];
          return [{ startMs, endMs }];
        };
        let [floorMs, missed] = [0, 0];
        let open: { fromMs: number; startedMs: number | undefined; isPaused: boolean } | undefined;
        for (const effect of run(given, { detection: first, ...(replies && { ask }) })) {
          const { at } = effect;
          switch (effect.type) {
            case 'record':
              expect(open).toBeUndefined();
              expect(effect.fromMs).toBeGreaterThanOrEqual(floorMs);
              expect(effect.fromMs).toBeLessThanOrEqual(at);
              open = { fromMs: effect.fromMs, startedMs: undefined, isPaused: false };
              break;
            case 'started':
              expect(open).toMatchObject({ fromMs: effect.ms, startedMs: undefined });
              if (open) open.startedMs = effect.ms;
              break;
            case 'stopped':
              expect(open?.startedMs).toBeLessThanOrEqual(effect.ms);
              expect(effect.ms).toBeLessThanOrEqual(at);
              break;
            case 'commit':
            case 'forget':
              expect(open).toBeDefined();
              if (effect.type === 'commit') floorMs = at;
              open = undefined;
              break;
            case 'clear':
              floorMs = at;
              break;
            case 'pause':
            case 'resume':
              expect(open?.isPaused).toBe(effect.type === 'resume');
              if (open) open.isPaused = effect.type === 'pause';
              break;
            case 'ask':
              missed += replies ? 0 : 1;
              break;
            case 'full':
              expect(open?.fromMs).toBeLessThanOrEqual(at - 600_000);
          }
        }
        expect(missed).toBe(0);
      }),
    );
  });
});
