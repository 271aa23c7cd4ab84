/** A test service whose local model is the tone model and whose whisper-cli is the real one. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';
import { requireProgram } from './programs.ts';
import { writeToneModel } from './tone-model.ts';

/** The ways to decode: a path without ffmpeg leaves the WASM decoders. */
export const decoders = {
  ffmpeg: {},
  'WASM decoders': { PATH: '/usr/bin/nothing-here' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

export async function startLocalService(options: TestServiceOptions = {}): Promise<TestService> {
  const models = await mkdtemp(join(tmpdir(), 'parlance-model-'));
  const modelFile = join(models, 'tones.bin');
  await writeToneModel(modelFile);
  const env = { WHISPER_CLI: requireProgram('whisper-cli'), WHISPER_MODEL: modelFile, ...options.env };
  return withDirectory(models, startTestService({ ...options, env }));
}

/** The service, with a directory that goes when it goes or cannot start. */
export async function withDirectory(directory: string, starting: Promise<TestService>): Promise<TestService> {
  const remove = () => rm(directory, { recursive: true, force: true });
  const service = await starting.catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    ...service,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await remove();
    },
  };
}

export interface UploadOptions {
  readonly name?: string;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Below /api/v1, or the whole path of the other API (`/v1/...`). Default: /transcribe. */
  readonly path?: string;
}

/** POSTs a recording as a browser's form does. */
export async function upload(
  service: TestService,
  recording: Uint8Array,
  options: UploadOptions = {},
): Promise<Response> {
  const form = new FormData();
  const { name = 'recording', type = '', fields = {}, signal, path = '/transcribe' } = options;
  form.set('file', new File([new Uint8Array(recording)], name, { type }));
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  const init = { method: 'POST', body: form, ...(signal && { signal }) };
  return path.startsWith('/v1/') ? fetch(service.url + path, init) : service.api(path, init);
}

/** The ways to send a recording, through both APIs. */
export const transcriptionWays: Readonly<Record<string, Pick<UploadOptions, 'path' | 'fields'>>> = {
  native: { path: '/transcribe' },
  'streaming native': { path: '/transcribe/stream' },
  OpenAI: { path: '/v1/audio/transcriptions' },
  'streaming OpenAI': { path: '/v1/audio/transcriptions', fields: { stream: 'true' } },
};

/** The code of a failure through either API, as the native one writes it. */
export async function failureCode(response: Response): Promise<string | undefined> {
  const { code, error } = (await response.json()) as { code?: string; error?: { code: string } };
  return code ?? error?.code.replaceAll('_', '-');
}

/** The answer to a transcription. */
export interface TranscriptionAnswer {
  readonly status: number;
  readonly text?: string;
  readonly language?: string | null;
  readonly duration_ms?: number;
  readonly code?: string;
  readonly detail?: string;
  readonly segments?: readonly Timed[];
  readonly words?: readonly Timed[];
}

export interface Timed {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}
