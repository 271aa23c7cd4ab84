/** The time from `node src/bin/start.ts` to the first 200, compared with a bare node:http server. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnService } from '../test/support/child-service.ts';
import { startNode } from './support/children.ts';
import { interleave, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const bareServer = `import { createServer } from 'node:http';
const server = createServer((request, response) => response.end('{}'));
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

export async function benchStart({ rounds }: BenchOptions): Promise<Row[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const script = join(directory.path, 'bare.mjs');
  await writeFile(script, bareServer);
  const env = { NODE_ENV: 'production', NODE_COMPILE_CACHE: join(directory.path, 'cache') };
  const ours = async () => {
    const started = performance.now();
    await using service = await spawnService({ env });
    const ms = await answered(`${service.url}/healthz`, started);
    service.kill('SIGTERM'); // Node.js writes the compile cache at exit; SIGKILL would prevent it
    await service.exit;
    return ms;
  };
  const bare = async () => {
    const started = performance.now();
    await using server = startNode(script);
    return await answered(await server.firstLine, started);
  };
  const starts = await interleave({ ours, bare }, rounds);
  const [ms, bareMs] = [median(starts.ours), median(starts.bare)];
  return [
    {
      what: 'start to the first 200',
      measured: milliseconds(ms),
      against: `${milliseconds(bareMs)} node:http`,
      ratio: ms / bareMs,
      goal: { atMost: 350, value: ms, unit: 'ms' },
    },
  ];
}

async function answered(url: string, started: number): Promise<number> {
  const { status } = await fetch(url);
  if (status !== 200) throw new Error(`${url}: ${status}`);
  return performance.now() - started;
}

if (import.meta.main) await runBenchmarks([benchStart]);
