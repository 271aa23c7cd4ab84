/** Chat with a local model of true size, with random weights, against the bare library; needs it (CONTRIBUTING.md). */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasLibrary, runtime } from '../engines/llama-local/support.ts';
import { spawnService } from '../support/child-service.ts';
import { writeLargeChatModel } from '../support/large-chat-model.ts';
import { processes } from '../support/proc.ts';
import { interleave, mean, processorMsOf } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, milliseconds, runBenchmarks, type Row } from './support/table.ts';

const [maxTokens, contextSize] = [64, 2_048];

interface Answered {
  readonly processorMs: number;
  readonly tokens: number;
}

export async function benchLocalChat({ rounds }: BenchOptions): Promise<Row[]> {
  if (!hasLibrary) return [];
  await using directory = await mkdtempDisposable(join(tmpdir(), 'parlance-bench-'));
  const file = await writeLargeChatModel(join(directory.path, 'large.gguf'));
  const mind = { use: 'llama-local', models: [{ id: 'mind', file }], threads: 1, contextSize };
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn' };
  await using service = await spawnService({ env, config: JSON.stringify({ engines: { mind } }) });
  const hostOf = () =>
    processes().find(({ parent, commandLine }) => parent === service.pid && commandLine.includes(file));
  const ask = async (content: string) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: maxTokens });
    const answer = await fetch(`${service.url}/api/v1/chat`, { method: 'POST', headers, body });
    const { usage } = (await answer.json()) as { usage: { completion_tokens: number } };
    return usage.completion_tokens;
  };
  const started = performance.now();
  await ask('Hello');
  const loadMs = performance.now() - started;
  const host = hostOf();
  if (!host) throw new Error('the model is not loaded');

  const bare = spawn(process.execPath, [join(import.meta.dirname, 'support/bare-llama.ts'), join(runtime, 'node_modules/node-llama-cpp'), file, String(maxTokens), String(contextSize)], { stdio: ['pipe', 'pipe', 'inherit'] }); // prettier-ignore
  const lines = createInterface({ input: bare.stdout })[Symbol.asyncIterator]();
  await lines.next();
  let asked = 0;
  const question = () => `${(asked += 1)} What do you know of it? `.repeat(8);
  const results = await interleave<'ours' | 'bare', Answered>(
    {
      async ours() {
        const before = processorMsOf(host.pid);
        const tokens = await ask(question());
        return { tokens, processorMs: processorMsOf(host.pid) - before };
      },
      async bare() {
        bare.stdin.write(`${question()}\n`);
        return JSON.parse(String((await lines.next()).value)) as Answered;
      },
    },
    rounds,
  );
  bare.kill('SIGKILL');
  const rate = (all: readonly Answered[]) => mean(all.map(({ tokens, processorMs }) => (1_000 * tokens) / processorMs));
  const [ours, theirs] = [rate(results.ours), rate(results.bare)];
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${host.pid}/status`, 'utf8')) ?? [];
  return [
    {
      what: 'a local chat (Qwen3 0.6B’s shape), tokens for a second of processor, a prompt of 200 tokens read (mean)',
      measured: ours.toFixed(1),
      against: `${theirs.toFixed(1)} node-llama-cpp`,
      ratio: ours / theirs,
      goal: '>= 0.95',
    },
    { what: '  the first answer, which loads the model', measured: milliseconds(loadMs), against: '', ratio: 1 },
    { what: '  memory of its program', measured: megabytes(Number(kibibytes) * 1_024), against: '', ratio: 1 },
  ];
}

if (import.meta.main) await runBenchmarks([benchLocalChat]);
