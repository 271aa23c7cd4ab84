/**
 * Sends requests one after the other from a separate process, whose event loop does nothing else: `node watch.ts URL`.
 * On SIGTERM it prints the milliseconds of each response.
 */
import { Agent } from 'undici';

const { origin, pathname } = new URL(process.argv[2] ?? '');
const agent = new Agent();
const times: number[] = [];
const ended = { now: false };
process.once('SIGTERM', () => (ended.now = true));
while (!ended.now) {
  const started = performance.now();
  const { body } = await agent.request({ origin, path: pathname, method: 'GET' });
  await body.dump();
  times.push(performance.now() - started);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log(JSON.stringify(times));
await agent.close(); // process.exit() would discard buffered output
