/** What the availability probe reports of a preparation. */
import { expect, it, vi } from 'vitest';
import type { EngineContext } from '../../../engines/contract/index.ts';
import type { Program } from '../../../engines/whisper-cli/build.ts';
import type { PrepareOptions } from '../../../engines/whisper-cli/prepare.ts';
import { createPreparationTracker } from '../../../engines/whisper-cli/preparation-tracker.ts';

const prepare = vi.hoisted(() => ({ run: (_options: PrepareOptions): Promise<void> => Promise.resolve() }));
vi.mock('../../../engines/whisper-cli/prepare.ts', () => ({
  prepareWhisper: (options: PrepareOptions) => prepare.run(options),
}));

async function start(plan: { programs: readonly Program[]; models: readonly ('base' | 'tiny')[] }) {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const called = Promise.withResolvers<PrepareOptions>();
  prepare.run = (given) => (called.resolve(given), promise);
  const shown: [step: string, fraction: number | null][] = [];
  const signal = new AbortController().signal;
  const tracker = createPreparationTracker({ dataDir: '/nowhere' } as EngineContext);
  const progress = (step: string, fraction: number | null) => void shown.push([step, fraction]);
  const done = tracker.run(() => Promise.resolve({ ...plan, mirror: undefined }), { signal, progress });
  done.catch(() => {});
  return { tracker, shown, done, end: () => resolve(undefined), fail: reject, ...(await called.promise) };
}

it('counts the build and each download alike, those that are done included', async () => {
  const { tracker, progress, end, done } = await start({
    programs: ['whisper-cli', 'whisper-host'],
    models: ['base', 'tiny'],
  });
  expect(tracker.state).toEqual({ description: 'starting', progress: undefined });
  progress('downloading ggml-base.bin', null);
  expect(tracker.state).toEqual({ description: 'downloading ggml-base.bin', progress: undefined });
  progress('building whisper-cli', 0.3);
  expect(tracker.state?.progress).toBeCloseTo(0.1);
  progress('building whisper-cli', 1);
  progress('downloading ggml-base.bin', 0.5);
  expect(tracker.state).toEqual({ description: 'downloading ggml-base.bin: 50 %', progress: 0.5 });
  progress('downloading ggml-base.bin', 1);
  progress('downloading ggml-tiny.bin', 0);
  expect(tracker.state?.progress).toBeCloseTo(2 / 3);
  end();
  await done;
  expect(tracker.state).toBeUndefined();
});

it('reports a step that failed at once, and counts it no more', async () => {
  const { tracker, progress, failed, fail, done } = await start({
    programs: ['whisper-cli', 'whisper-host'],
    models: ['base'],
  });
  progress('downloading ggml-base.bin', 0);
  progress('building whisper-cli', 0.5);
  failed('downloading ggml-base.bin', 'no network');
  expect(tracker.failureOf('downloading ggml-base.bin')).toBe('no network');
  expect(tracker.state).toEqual({ description: 'building whisper-cli: 50 %', progress: 0.5 });
  fail(new Error('no network'));
  await expect(done).rejects.toThrow('no network');
  expect(tracker.state).toBeUndefined();
  expect(tracker.failureOf('downloading ggml-base.bin')).toBe('no network');
});

it('says that another process is at work', async () => {
  const { tracker, progress, shown } = await start({ programs: ['whisper-cli', 'whisper-host'], models: [] });
  progress('building whisper-cli', 'waiting');
  expect(shown).toEqual([['another process is building whisper-cli', null]]);
  expect(tracker.state).toEqual({ description: 'another process is building whisper-cli', progress: undefined });
  progress('building whisper-cli', 0);
  expect(tracker.state).toEqual({ description: 'building whisper-cli: 0 %', progress: 0 });
});

it('counts from the call on, while the plan is made', async () => {
  const plan = Promise.withResolvers<{ programs: []; models: []; mirror: undefined }>();
  const tracker = createPreparationTracker({ dataDir: '/nowhere' } as EngineContext);
  const done = tracker.run(() => plan.promise, { signal: new AbortController().signal, progress: () => {} });
  expect(tracker.state).toEqual({ description: 'starting', progress: undefined });
  plan.resolve({ programs: [], models: [], mirror: undefined });
  await done;
  expect(tracker.state).toBeUndefined();
});
