/** What the availability probe reports of a preparation. */
import { expect, it, vi } from 'vitest';
import type { EngineContext } from '../../../engines/contract/index.ts';
import type { PrepareOptions } from '../../../engines/whisper-cli/prepare.ts';
import { createPreparationTracker } from '../../../engines/whisper-cli/preparation-tracker.ts';

const prepare = vi.hoisted(() => ({ run: (_options: PrepareOptions): Promise<void> => Promise.resolve() }));
vi.mock('../../../engines/whisper-cli/prepare.ts', () => ({
  prepareWhisper: (options: PrepareOptions) => prepare.run(options),
}));

const call = { signal: new AbortController().signal, progress: () => {} };

function start(plan: { needProgram: boolean; models: readonly ('base' | 'tiny')[] }) {
  const steps: { readonly report: PrepareOptions['progress']; readonly end: (error?: Error) => void }[] = [];
  prepare.run = ({ progress }) =>
    new Promise((resolve, reject) => {
      steps.push({ report: progress, end: (error) => (error ? reject(error) : resolve()) });
    });
  const tracker = createPreparationTracker({ dataDir: '/nowhere' } as EngineContext);
  const done = tracker.run({ ...plan, mirror: undefined }, call);
  done.catch(() => {});
  return { tracker, steps, done };
}

it('counts the build and each download alike, those that are done included', async () => {
  const { tracker, steps, done } = start({ needProgram: true, models: ['base', 'tiny'] });
  expect(tracker.state).toEqual({ description: 'starting', progress: undefined });
  steps[0]!.report('downloading ggml-base.bin', null);
  expect(tracker.state).toEqual({ description: 'downloading ggml-base.bin', progress: undefined });
  steps[0]!.report('building whisper-cli', 0.3);
  expect(tracker.state?.progress).toBeCloseTo(0.1);
  steps[0]!.report('building whisper-cli', 1);
  steps[0]!.report('downloading ggml-base.bin', 0.5);
  expect(tracker.state).toEqual({ description: 'downloading ggml-base.bin: 50 %', progress: 0.5 });
  steps[0]!.report('downloading ggml-base.bin', 1);
  steps[0]!.end();
  await expect.poll(() => steps).toHaveLength(2);
  steps[1]!.report('downloading ggml-tiny.bin', 0);
  expect(tracker.state?.progress).toBeCloseTo(2 / 3);
  steps[1]!.end();
  await done;
  expect(tracker.state).toBeUndefined();
});

it('reports why the last one failed', async () => {
  const { tracker, steps, done } = start({ needProgram: false, models: ['base'] });
  steps[0]!.end(new Error('no network'));
  await expect(done).rejects.toThrow('no network');
  expect(tracker).toMatchObject({ state: undefined, failure: 'no network' });
});
