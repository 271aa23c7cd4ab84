/**
 * Loaded with --import: answers `take` with the files in which a function has run since the last `take` (V8's precise
 * coverage).
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('message', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ url, functions }) => url.startsWith('file:') && functions.some(hasRun));
  process.send(ran.map(({ url }) => fileURLToPath(url)));
});
process.channel.unref();

/** @param {{ functionName: string, ranges: { count: number }[] }} found */
const hasRun = ({ ranges }) => ranges[0].count > 0;
