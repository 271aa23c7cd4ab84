/**
 * Chat with a local model of real size with random weights, compared with the bare library. Requires the library
 * (CONTRIBUTING.md).
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { hasLibrary, runtime } from '../test/engines/llama-local/support.ts';
import { spawnService } from '../test/support/child-service.ts';
import { writeLargeChatModel } from './support/large-chat-model.ts';
import { processes } from '../test/support/proc.ts';
import { openLiveSession } from './support/live-session.ts';
import { interleave, mean, median, processorMsOf } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, milliseconds, runBenchmarks, type Row } from './support/table.ts';

const [maxTokens, contextSize] = [64, 4_608];
const cancellations = 20;

interface ChatMeasurement {
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
  const ask = async (content: string, most = maxTokens) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: most });
    const answer = await fetch(`${service.url}/api/v1/chat`, { method: 'POST', headers, body });
    const { usage } = (await answer.json()) as { usage: { completion_tokens: number } };
    return usage.completion_tokens;
  };
  const started = performance.now();
  await ask('Hello');
  const loadMs = performance.now() - started;
  const host = hostOf();
  if (!host) throw new Error('the model is not loaded');

  const bare = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'support/bare-llama.ts'),
      join(runtime, 'node_modules/node-llama-cpp'),
      file,
      String(maxTokens),
      String(contextSize),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: bare.stdout })[Symbol.asyncIterator]();
  await lines.next();
  let asked = 0;
  const question = () => `${(asked += 1)} What do you know of it? `.repeat(8);
  const results = await interleave<'ours' | 'bare', ChatMeasurement>(
    {
      async ours() {
        const before = processorMsOf(host.pid);
        const tokens = await ask(question());
        return { tokens, processorMs: processorMsOf(host.pid) - before };
      },
      async bare() {
        bare.stdin.write(`${question()}\n`);
        return JSON.parse(String((await lines.next()).value)) as ChatMeasurement;
      },
    },
    rounds,
  );
  bare.kill('SIGKILL');
  const rate = (all: readonly ChatMeasurement[]) =>
    mean(all.map(({ tokens, processorMs }) => (1_000 * tokens) / processorMs));
  const [ours, theirs] = [rate(results.ours), rate(results.bare)];
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${host.pid}/status`, 'utf8')) ?? [];
  const chat = `${service.url}/api/v1/chat/stream`;
  const cancelAll = async (which: (n: number) => Omit<Cancellation, 'chat' | 'pid'>) => {
    const all: number[] = [];
    for (let n = 0; n < cancellations; n += 1) {
      await ask('Hello', 1); // loads the program again if it was killed
      all.push(await cancel({ chat, pid: hostOf()?.pid ?? 0, ...which(n) }));
    }
    return all;
  };
  const canceled = {
    // Tokens are bytes here. All prompts begin differently, because a known beginning is not read again.
    prompt: await cancelAll((n) => ({ afterMs: 200 + 90 * n, content: `${n} `.repeat(1_400).slice(0, 4_000) })),
    answer: await cancelAll((n) => ({ afterMs: 600 + 90 * n, content: 'Go on.' })),
  };
  const answers = await measureAnswers(service, host.pid, Math.min(rounds, 5));
  return [
    {
      what: 'a local chat (Qwen3 0.6B’s shape), tokens for a second of processor, a prompt of 200 tokens read (mean)',
      measured: ours.toFixed(1),
      against: `${theirs.toFixed(1)} node-llama-cpp`,
      ratio: ours / theirs,
      goal: { atLeast: 0.95 },
    },
    { what: '  the first answer, which loads the model', measured: milliseconds(loadMs), against: '', ratio: 1 },
    ...Object.entries(canceled).map(([where, all]) => {
      const ms = where === 'prompt' ? 750 : 250;
      return {
        what: `  canceled in the ${where}: until its program is idle, the longest of ${cancellations}`,
        measured: milliseconds(Math.max(...all)),
        against: `${ms} ms`,
        ratio: Math.max(...all) / ms,
        goal: { atMost: 1 },
      };
    }),
    {
      what: '  processor time until the first answer of a conversation, whose 400 tokens of instructions it has read (median)',
      measured: milliseconds(answers.first),
      against: `${milliseconds(answers.second)} the second answer`,
      ratio: answers.first / answers.second,
      goal: { atMost: 1.2 },
    },
    { what: '  memory of its program', measured: megabytes(Number(kibibytes) * 1_024), against: '', ratio: 1 },
  ];
}

/** Processor time of the program from a message to the first token of the answer. The user speaks until it is idle. */
async function measureAnswers(service: { readonly url: string }, pid: number, rounds: number) {
  const results: Record<'first' | 'second', number[]> = { first: [], second: [] };
  for (let round = 0; round < rounds; round += 1) {
    await using session = await openLiveSession(service, { query: 'model=mind' });
    const instructions = `${round} be brief. `.repeat(40).slice(0, 400);
    const updated = session.next('session.updated');
    session.say({ type: 'session.update', session: { type: 'realtime', instructions, output_modalities: ['text'] } });
    await updated;
    await idle(pid);
    for (const which of ['first', 'second'] as const) {
      const before = workedMs(pid);
      const done = session.next('response.done');
      const content = [{ type: 'input_text', text: 'What do you know of it?' }];
      session.say({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
      session.say({ type: 'response.create', response: { max_output_tokens: 1 } });
      await done;
      results[which].push(workedMs(pid) - before);
    }
  }
  return { first: median(results.first), second: median(results.second) };
}

/** Resolves when the process has not used the processor for a second. */
async function idle(pid: number): Promise<void> {
  for (let worked = -1; worked !== workedMs(pid); await wait(1_000)) worked = workedMs(pid);
}

interface Cancellation {
  readonly chat: string;
  readonly pid: number;
  readonly afterMs: number;
  readonly content: string;
}

/** Milliseconds from the disconnect to the last moment at which the program used the processor. */
async function cancel({ chat, pid, afterMs, content }: Cancellation): Promise<number> {
  const leaving = new AbortController();
  const body = JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: 400 });
  const headers = { 'content-type': 'application/json' };
  const asking = fetch(chat, { method: 'POST', headers, body, signal: leaving.signal }).then((answer) => answer.text());
  asking.catch(() => undefined);
  await wait(afterMs);
  leaving.abort();
  const left = performance.now();
  let [worked, last] = [workedMs(pid), left];
  while (performance.now() < last + 300) {
    await wait(10); // polling more often would take a core from the program
    const now = workedMs(pid);
    if (now === 0 && worked > 0) last = performance.now();
    if (now > worked + 0.2) last = performance.now();
    worked = now;
  }
  return last - left;
}

/** Processor time of all threads of a process, to the nanosecond (proc(5), schedstat); 0 if it has ended. */
function workedMs(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const times = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]);
    return times.reduce((sum, ns) => sum + Number(ns), 0) / 1e6;
  } catch {
    return 0;
  }
}

if (import.meta.main) await runBenchmarks([benchLocalChat]);
