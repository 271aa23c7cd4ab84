/**
 * 200 uploads of 1 MB in flight beside 20 live streams of chats: the duration of a listing, the rejected requests, and
 * the memory. The whisper-cli is a stub that answers immediately, so that the service has all cores.
 */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { spawnService } from '../test/support/child-service.ts';
import { toneWav, writeToneModel } from '../test/support/tone-model.ts';
import { startChatProvider } from './support/chat-services.ts';
import { startNode } from './support/children.ts';
import { percentile } from './support/measure.ts';
import { transcribe } from './support/service.ts';
import { megabytes, milliseconds, runBenchmarks, type Row } from './support/table.ts';

const [uploads, streams, totalUploads] = [200, 20, 2_000];
const tokenEveryMs = 20;

/** A whisper-cli that waits 100 ms and returns one word. */
const quickWhisper = `#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -of ] && out="$2"; shift; done
sleep 0.1
echo '{"result":{"language":"en"},"transcription":[{"text":" alpha","offsets":{"from":0,"to":500}}]}' > "$out.json"
`;

export async function benchLoad(): Promise<Row[]> {
  const [copied, decoded] = [
    await underLoad({ rate: 16_000, seconds: 31 }),
    await underLoad({ rate: 48_000, seconds: 10 }),
  ];
  const listing = ({ listingMs }: Load, what: string, note?: string): Row => ({
    what,
    measured: milliseconds(percentile(listingMs, 99)),
    against: '50 ms',
    ratio: percentile(listingMs, 99) / 50,
    goal: { atMost: 1 },
    ...(note !== undefined && { note }),
  });
  return [
    listing(copied, `GET /transcribe/models, ${uploads} uploads of 1 MB and ${streams} streams in flight, p99`),
    listing(
      decoded,
      '  with recordings of 48 kHz, each of which starts ffmpeg',
      'The processes of ffmpeg take the cores that the service needs. Without them, in the row above, a listing takes half of the time.',
    ),
    {
      what: `  of ${2 * totalUploads} uploads`,
      measured: `${copied.refused + decoded.refused} refused`,
      against: `${2 * totalUploads}`,
      ratio: (copied.refused + decoded.refused) / (2 * totalUploads),
      goal: { atMost: 0 },
    },
    {
      what: '  memory (RSS) at the end',
      measured: megabytes(copied.memory.end),
      against: `${megabytes(copied.memory.half)} at half`,
      ratio: copied.memory.end / copied.memory.half,
      goal: { atMost: 1.1 },
    },
  ];
}

interface Load {
  readonly listingMs: readonly number[];
  readonly refused: number;
  /** In bytes. */
  readonly memory: { readonly half: number; readonly end: number };
}

/** Uploads recordings of a megabyte. */
async function underLoad({ rate, seconds }: { readonly rate: number; readonly seconds: number }): Promise<Load> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const [model, program] = [join(directory.path, 'tones.bin'), join(directory.path, 'whisper-cli')];
  await writeToneModel(model);
  await writeFile(program, quickWhisper, { mode: 0o755 });
  await using provider = await startChatProvider(100_000, tokenEveryMs);
  const whisper = `{ use: whisper-cli, program: ${program}, models: [{ id: local, file: ${model} }], slots: 4, waiting: ${uploads} }`;
  const chat = `{ use: llm-agent, baseUrl: "${provider.baseUrl}", models: [fake] }`;
  await using service = await spawnService({
    env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
    config: `engines: { local: ${whisper}, fake: ${chat} }`,
  });
  const agent = new Agent();
  const open = () =>
    agent.request({
      origin: service.url,
      path: '/api/v1/chat/stream',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Say many words.' }] }),
    });
  for (const { body } of await Promise.all(Array.from({ length: streams }, open))) body.on('error', ignore).resume();

  const recording = new Blob([new Uint8Array(toneWav({ words: ['alpha'], rate, tailSeconds: seconds }))]);
  const statuses: number[] = [];
  let half = NaN;
  let left = totalUploads;
  const caller = async () => {
    while (left-- > 0) {
      statuses.push((await transcribe(service, recording)).status);
      if (statuses.length === totalUploads / 2) half = service.memory().now;
    }
  };
  await using watch = startNode(
    join(import.meta.dirname, 'support/watch.ts'),
    `${service.url}/api/v1/transcribe/models`,
  );
  await Promise.all(Array.from({ length: uploads }, caller));
  process.kill(watch.pid, 'SIGTERM');
  const listingMs = JSON.parse(await watch.firstLine) as number[];
  const end = service.memory().now;
  await agent.destroy();
  return { listingMs, refused: statuses.filter((status) => status !== 200).length, memory: { half, end } };
}

function ignore(): void {
  // This script has destroyed the stream.
}

if (import.meta.main) await runBenchmarks([benchLoad]);
