/** What the tests of this folder share: stand-ins by name, models under any name, and recordings sent by a form. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, vi } from 'vitest';
import { answers } from '../support/chat-model.ts';
import { recognize } from '../support/tone-listener.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';

vi.setConfig({ testTimeout: 120_000 }); // services in processes of their own, however busy the machine is

const programs = join(import.meta.dirname, 'programs');

/** Tiny real programs; each says in its first lines how it behaves. */
export const standIns = {
  /** Behaves as its model is called: `hang.bin`, `fails.bin`, ... */
  whisper: join(import.meta.dirname, '../fixtures/whisper/whisper-cli.mjs'),
  'gated whisper': join(programs, 'whisper-cli-gated.sh'),
  'hanging ffmpeg': join(programs, 'ffmpeg-hanging.sh'),
} as const;

/** Two seconds of speech; at 16 kHz, they would need no decoder. */
export const recording = toneWav({ words: ['alpha', 'bravo'], language: 'de', rate: 8_000 });
/** For the chat model that is made by hand. */
export const hello = { messages: [{ role: 'user', content: 'Hello.' }], model: 'local-chat' } as const;
export const localAnswer = { status: 200, body: { content: answers.plain } } as const;

export const spoken = { text: 'alpha bravo', language: 'de' } as const;

export interface Models extends AsyncDisposable {
  readonly directory: string;
  fileOf(name: string): string;
}

/** The tone model under several names, for a whole test file. */
export async function writeModels(names: readonly string[]): Promise<Models> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-models-'));
  const fileOf = (name: string) => join(directory, `${name}.bin`);
  await writeToneModel(join(directory, 'tones'));
  for (const name of names) await symlink('tones', fileOf(name));
  return {
    directory,
    fileOf,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A line of `engines:` for a whisper-cli instance that serves some of these models, each under its file's name. */
export function whisperEngine(models: Models, names: readonly string[], options: Readonly<Record<string, unknown>>) {
  const entries = names.map((id) => ({ id, file: models.fileOf(id) }));
  // JSON is YAML.
  return JSON.stringify({ use: 'whisper-cli', models: entries, ...options });
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** POSTs a recording as a browser's form does. */
export async function transcribe(
  { url }: { readonly url: string },
  bytes: Uint8Array,
  fields: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(bytes)], 'recording'));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return toAnswer(await fetch(`${url}/api/v1/transcribe`, { method: 'POST', body: form }));
}

export async function probe({ url }: { readonly url: string }, model?: string): Promise<Answer['body']> {
  const query = model === undefined ? '' : `?model=${model}`;
  return (await toAnswer(await fetch(`${url}/api/v1/transcribe${query}`))).body;
}

export async function toAnswer(response: Response): Promise<Answer> {
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/**
 * A `describe` for tests in namespaces of their own, which only root may make. Elsewhere they are skipped and say why;
 * on CI, where no one would notice, that is a failure.
 */
export function describeAsRoot(title: string, body: () => void): void {
  const { status, stderr, error } = spawnSync('unshare', ['--mount', '--net', 'ip', 'link', 'set', 'lo', 'up']);
  describe(title, () => {
    if (status === 0) return body();
    const reason = `needs root, unshare and ip to make namespaces: ${error?.message ?? String(stderr).trim()}`;
    if (!process.env.CI) console.warn(`skipped "${title}": ${reason}`);
    test(reason, ({ skip }) => {
      if (process.env.CI) throw new Error(reason);
      skip(reason);
    });
  });
}

/** "Hello" in the tones of a Piper voice (voice-model.ts). */
export const spelled = 'həlˈoʊ';

/** What the default speech model says of a text, in the tokens of a Piper voice. */
export async function say(url: string, text: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/tts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'wav' }),
  });
  return recognize(Buffer.from(await response.arrayBuffer()), 'piper');
}
