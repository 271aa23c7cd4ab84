/** A service whose engine is llama-local, with models made by hand and the real library. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { writeChatModel } from '../../support/chat-model.ts';
import { processesWith } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/** Where `.ci/run` installs the library, as CONTRIBUTING.md says. */
export const runtime = join(
  import.meta.dirname,
  `../../../engines/llama-local/packages/${process.platform}-${process.arch}`,
);

export const hasLibrary = existsSync(join(runtime, 'node_modules/node-llama-cpp'));
if (!hasLibrary && process.env.CI) throw new Error(`needs \`npm ci --ignore-scripts --prefix ${runtime}\``);

export interface Answer {
  readonly status: number;
  readonly content?: string;
  readonly finish_reason?: string;
  readonly reasoning?: string | null;
  readonly usage?: Readonly<Record<string, number>>;
  readonly code?: string;
  readonly detail?: string;
}

export interface StartOptions {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly context?: number;
  /** More engines. */
  readonly others?: Readonly<Record<string, unknown>>;
}

export interface LocalChat extends AsyncDisposable {
  readonly service: TestService;
  readonly file: string;
  /** The model's answer to a message, or to messages. */
  ask(said: string | readonly object[], fields?: object, signal?: AbortSignal): Promise<Answer>;
  /** Process ids of the programs that have a model in memory. */
  programs(): string[];
  /** Facts of each round, from the log. */
  rounds(): readonly Readonly<Record<string, unknown>>[];
}

/** Disposed at the end of the test. */
export async function startLocalChat(start?: StartOptions): Promise<LocalChat> {
  const chat = await openLocalChat(start);
  onTestFinished(() => chat[Symbol.asyncDispose]());
  return chat;
}

export async function openLocalChat({ options = {}, context, others = {} }: StartOptions = {}): Promise<LocalChat> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-llama-'));
  const file = await writeChatModel(join(directory, 'chat.gguf'), context);
  const mind = { use: 'llama-local', models: [{ id: 'mind', file }], ...options };
  const service = await startTestService({
    config: JSON.stringify({ engines: { mind, ...others } }),
    env: { LOG_LEVEL: 'debug' },
  });
  return {
    service,
    file,
    async ask(said, fields = {}, signal) {
      const messages = typeof said === 'string' ? [{ role: 'user', content: said }] : said;
      const answer = await service.post('/chat', { messages, ...fields }, signal && { signal });
      return { status: answer.status, ...((await answer.json()) as object) };
    },
    programs: () => processesWith(file),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
    rounds: () => service.log.filter(({ msg }) => msg === 'a model has answered'),
  };
}
