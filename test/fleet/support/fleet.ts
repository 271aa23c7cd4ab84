/** A fleet of real processes on this machine, and an engine that does what its recording says. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { multipart, multipartType, wavHead } from '../../api/support/forms.ts';
import {
  requestFilesIn,
  spawnProcess,
  spawnService,
  type ChildProcess,
  type ChildService,
} from '../../support/child-service.ts';
import { freePort } from '../../support/free-port.ts';
import type { LogLine } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** What the engine does with a recording: waits, reports, fails, or keeps a program running. It says `say` and a hash. */
export interface Script {
  readonly say: string;
  readonly ms?: number;
  /** A file that it waits for. */
  readonly until?: string;
  /** A word in the arguments of the program that works for it until it is ended. */
  readonly program?: string;
  readonly segments?: number;
  readonly fail?: string;
  /** It reports a segment that breaks the contract, in a timer. */
  readonly misreports?: boolean;
  /** Bytes that make the recording larger. */
  readonly padding?: number;
}

export const engineFile = `
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export default {
  contract: 1,
  name: 'scripted',
  capability: 'transcription',
  options: { type: 'object', properties: { slots: { type: 'integer' }, models: { type: 'array' } } },
  create({ slots = 2, models = ['scripted'] }, context) {
    const queue = context.queue({ slots, waiting: 64 });
    return {
      models: models.map((id) => ({ id, local: true, supports: ['segment'] })),
      transcribe: (call, options) => queue.run(() => transcribe(call, options, models, context), options),
    };
  },
};

async function transcribe({ recording, model, timestamps }, { signal, onSegment, onProgress }, models, context) {
  const engineError = (code) => Object.assign(new Error('It failed.'), { code, [Symbol.for('parlance.engine-error')]: true });
  if (!models.includes(model)) throw engineError('unknown-model');
  const bytes = await readFile(recording.path);
  const { say, ms = 0, until, program, segments = 0, fail, misreports } = JSON.parse(bytes.subarray(bytes.indexOf('{')).toString().trim());
  context.log.info({ say }, 'began');
  try {
    if (program !== undefined) {
      const source = 'setTimeout(() => {}, 60000)';
      await context.run(process.execPath, ['-e', source, program], { signal, timeoutMs: 60000, cwd: '/' });
    }
    if (misreports) {
      setTimeout(() => onSegment({ startMs: 0.5, endMs: 1, text: 'x' }));
      await wait(60000, undefined, { signal });
    }
    const parts = Array.from({ length: segments }, (_, index) => ({ startMs: index * 10, endMs: index * 10 + 10, text: 'part' + index }));
    for (const part of parts) {
      await wait(ms / segments, undefined, { signal });
      onSegment?.(part);
      onProgress?.(part.endMs, segments * 10);
    }
    while (until !== undefined && !existsSync(until)) await wait(20, undefined, { signal });
    if (segments === 0) await wait(ms, undefined, { signal });
    if (fail !== undefined) throw engineError(fail);
    const text = say + ' ' + createHash('sha256').update(bytes).digest('hex');
    return { text, language: 'en', durationMs: segments * 10, ...(timestamps && { segments: parts }) };
  } finally {
    context.log.info({ say, isAborted: signal.aborted }, 'ended');
  }
}
`;

/** For transcriptions that a test ends. */
export async function createGate(): Promise<{ readonly until: string; open(): Promise<void> }> {
  const until = join(await temporaryDirectory(), 'open');
  return { until, open: () => writeFile(until, '') };
}

export const secret = 'a secret that all nodes of this fleet share';

export interface WorkerProcess extends ChildProcess {
  log(): LogLine[];
  /** Resident memory in bytes at its highest (proc(5), VmHWM). */
  peakMemory(): number;
}

export interface FleetOptions {
  readonly url: string;
  readonly slots?: number;
  readonly models?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Text of parlance.config.yaml, with an instance `scripted`. */
  readonly config?: string;
  /** More files beside its settings. */
  readonly files?: Readonly<Record<string, string>>;
}

export function settingsOf({ url, slots = 2, models = ['scripted'], env, config, files }: FleetOptions) {
  const scripted = JSON.stringify({ use: './scripted.mjs', slots, models });
  return {
    config: config ?? `engines: { scripted: ${scripted}, sandbox: { use: sandbox } }\n`,
    files: { 'scripted.mjs': engineFile, ...files },
    env: { FLEET_URL: url, FLEET_SECRET: secret, FLEET_ENGINES: 'scripted', LOG_LEVEL: 'debug', ...env },
  };
}

/** A front, with `FLEET_ROLE: 'both'` also a worker. */
export async function startFront(options: FleetOptions): Promise<ChildService & { readonly address: string }> {
  const address = `http://127.0.0.1:${await freePort()}`;
  const { env, ...settings } = settingsOf(options);
  const service = await spawnService({
    ...settings,
    env: { FLEET_ROLE: 'front', FLEET_ADDRESS: address, ...env },
  });
  return { ...service, address };
}

/** Resolves once it takes tickets. */
export async function startWorker(options: FleetOptions): Promise<WorkerProcess> {
  const { env, ...settings } = settingsOf(options);
  const worker = await spawnProcess('src/bin/start.ts', { ...settings, env: { FLEET_ROLE: 'worker', ...env } });
  const taking = {
    ...worker,
    peakMemory() {
      const status = readFileSync(`/proc/${worker.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    log: () =>
      worker.said.stdout.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as LogLine] : [])),
  };
  while (!taking.log().some(({ msg }) => msg === 'takes tickets')) {
    if (worker.said.stderr.includes('cannot start')) throw new Error(worker.said.stderr);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return taking;
}

export function recordingOf({ padding = 0, ...script }: Script): Buffer {
  return Buffer.concat([wavHead, Buffer.from(JSON.stringify(script)), Buffer.alloc(padding, ' ')]);
}

/** A turn of a live session at 16,000 Hz, which is the sound of a recording as it is. */
export function soundOf(script: Script): Buffer {
  return Buffer.from(JSON.stringify(script).padEnd(16_000));
}

/** What the engine says of the recording. */
export function wordsOf(script: Script): string {
  return `${script.say} ${createHash('sha256').update(recordingOf(script)).digest('hex')}`;
}

export function formOf(script: Script, fields: Readonly<Record<string, string>> = {}) {
  const texts = Object.entries(fields).map(([name, value]) => ({ name, value }));
  const file = { name: 'file', value: recordingOf(script), filename: 'memo.wav' };
  return { headers: multipartType, body: multipart(...texts, file) };
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function transcribe(
  { url }: { readonly url: string },
  script: Script,
  { signal, ...fields }: { readonly signal?: AbortSignal; readonly model?: string } = {},
): Promise<Answer> {
  const init = { method: 'POST', ...formOf(script, fields), ...(signal && { signal }) };
  const response = await fetch(`${url}/api/v1/transcribe`, init);
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

/** The status of an answer to a caller with this address of the machine: in open mode, addresses are callers. */
export function statusAs(address: string, { url }: { readonly url: string }, script: Script, signal?: AbortSignal) {
  const { headers, body } = formOf(script);
  return new Promise<number>((resolve, reject) => {
    const options = { method: 'POST', headers, localAddress: address, agent: false, ...(signal && { signal }) };
    const asking = request(`${url}/api/v1/transcribe`, options, (response) => resolve(response.resume().statusCode!));
    asking.on('error', reject).end(body);
  });
}

/** What lies in the data directories of requests and tickets. */
export async function leftovers(nodes: readonly { readonly dataDir: string }[]): Promise<string[]> {
  return (await Promise.all(nodes.map(({ dataDir }) => requestFilesIn(dataDir)))).flat();
}

/** The process whose engine has begun with the script, once one has. */
export async function workerOf<W extends { log(): LogLine[] }>(workers: readonly W[], say: string): Promise<W> {
  for (;;) {
    const found = workers.find((worker) => worker.log().some((line) => line.msg === 'began' && line.say === say));
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
