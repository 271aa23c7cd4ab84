import { spawnService, type ChildService } from '../../test/support/child-service.ts';
import { requireProgram } from '../../test/support/programs.ts';
import type { BenchOptions } from './options.ts';

export interface BenchServiceOptions extends Pick<BenchOptions, 'slots' | 'threads'> {
  readonly modelFile: string;
  /** Number of requests that may wait. */
  readonly waiting?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The service in production mode, in a process of its own; its one model is `local`. */
export async function startBenchService(options: BenchServiceOptions): Promise<ChildService> {
  const { modelFile, slots, threads, waiting = 16, env = {} } = options;
  const limits = `slots: ${slots}, threads: ${threads}, waiting: ${waiting}`;
  return spawnService({
    env: { NODE_ENV: 'production', TRANSCRIBE_SETUP: 'off', WHISPER_CLI: requireProgram('whisper-cli'), ...env },
    config: `engines: { local: { use: whisper-cli, models: [{ id: local, file: ${modelFile} }], ${limits} } }`,
  });
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** POSTs a recording with the language English, so that no time is spent on detecting it. */
export async function transcribe(
  { url }: Pick<ChildService, 'url'>,
  recording: Blob,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Answer> {
  const form = new FormData();
  form.set('file', recording, 'recording');
  form.set('language', 'en');
  const answer = await fetch(`${url}/api/v1/transcribe`, { method: 'POST', body: form, ...(signal && { signal }) });
  const { text = '' } = (await answer.json()) as { text?: string };
  return { status: answer.status, text };
}
