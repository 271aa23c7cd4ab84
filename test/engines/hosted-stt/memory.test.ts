/** A recording of 25 MB passes through the service without being held in its memory: on its way in and on its way out. */
import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startChildService } from '../../support/child-service.ts';
import { answers, openProvider } from '../../support/provider.ts';
import { callsOf, fineAnswer, recording } from './support.ts';

const MB = 1e6;
const largest = 26_214_400;

test('25 MB go up with a length, and the service grows by less than 10 MB', async () => {
  const provider = await openProvider({ forgetful: true });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  provider.behave(answers(200, fineAnswer));
  const config = `engines: { cloud: { use: hosted-stt, baseUrl: "${provider.baseUrl}", models: [remote] } }`;
  // A collector that runs often shows what is held; otherwise what only waits to be collected counts too.
  const service = await startChildService({ config, nodeOptions: ['--gc-interval=400'] });
  const { transcribe } = callsOf(service);
  const large = Buffer.concat([recording, Buffer.alloc(largest - recording.length)]);
  // The first requests load code and let the heap find its size.
  for (const bytes of [recording, recording, large, large, large, large]) expect((await transcribe({}, bytes)).status).toBe(200);

  const grown: number[] = [];
  for (let i = 0; i < 11; i += 1) {
    const before = service.memory().now;
    writeFileSync(`/proc/${service.pid}/clear_refs`, '5'); // the peak counts from here
    expect((await transcribe({}, large)).status).toBe(200);
    grown.push((service.memory().peak - before) / MB);
  }
  const call = provider.calls.at(-1);
  expect(call?.received).toBeGreaterThan(largest);
  expect(Number(call?.headers['content-length'])).toBe(call?.received);
  const median = grown.sort((a, b) => a - b)[5]!;
  expect(median, `MB: ${grown.map((mb) => mb.toFixed(1)).join(', ')}`).toBeLessThan(10);
});
