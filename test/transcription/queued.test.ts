/** The place in the line of an engine's queue, in the event stream. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { multipart, multipartType, recording } from '../api/support/forms.ts';
import { eventually } from '../api/support/eventually.ts';
import { startTestService } from '../support/service.ts';
import { expectGuarantees, openStream } from './support/stream.ts';

/** One slot; its jobs end one by one, the next whenever there is one more file of `end-1`, `end-2` and so on. */
const engine = `
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export default {
  contract: 1,
  name: 'gated',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create(options, context) {
    const queue = context.queue({ slots: 1, waiting: 8 });
    let jobs = 0;
    const job = async (signal) => {
      jobs += 1;
      const gate = context.resolve('end-' + jobs);
      while (!existsSync(gate)) await wait(5, undefined, { signal });
      return { text: 'at last', language: null };
    };
    return {
      models: [{ id: 'gated', local: true }],
      transcribe: (_call, options) => queue.run(() => job(options.signal), options),
    };
  },
};
`;

test('each waiting stream shows how many are ahead, and that its turn has come', async () => {
  const config = 'engines: { gated: { use: ./gated.mjs } }\n';
  const service = await startTestService({ config, files: { 'gated.mjs': engine }, streamHoldMs: 0 });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const open = () => openStream(service.url, { headers: multipartType, body: multipart(recording) });
  const finish = (job: number) => writeFile(join(service.dir, `end-${job}`), '');
  const shown = (stream: Awaited<ReturnType<typeof open>>) =>
    stream.events.flatMap((event): (number | string)[] =>
      event.type === 'transcription.queued'
        ? [event.ahead]
        : event.type === 'transcription.progress'
          ? [`at ${event.processed_ms} ms`]
          : [],
    );

  using first = await open();
  await eventually(() => first.events).toHaveLength(1);
  using second = await open();
  await eventually(() => shown(second)).toEqual([0]);
  using third = await open();
  await eventually(() => shown(third)).toEqual([1]);
  await finish(1);
  await eventually(() => shown(third)).toEqual([1, 0]);
  expect(shown(second)).toEqual([0, 'at 0 ms']);
  await finish(2);
  await eventually(() => shown(third)).toEqual([1, 0, 'at 0 ms']);
  await finish(3);
  const all = [first, second, third];
  for (const stream of all) expectGuarantees(await stream.all());
  expect(all.map(({ events }) => events.at(-1)?.type)).toEqual(Array(3).fill('transcription.completed'));
});
