/** Creates the context that the service passes to each engine. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { lengthOf, readWav, WavError } from '../../lib/wav.ts';
import { viaHeader, writeVia } from '../../lib/via.ts';
import type { Decoded, EngineContext, Logger, Pcm, CallQueueOptions } from '../../engines/contract/index.ts';
import { currentUsage, currentVia } from '../request-scope.ts';
import { traceHeaders } from '../trace.ts';
import { createDecoder } from '../audio/decode/index.ts';
import type { DecodedRecording } from '../audio/decode-request.ts';
import { createEncoder } from '../audio/encode/index.ts';
import { gapMsIn } from '../audio/timeline.ts';
import { largestSpeech } from '../system/disk-budget.ts';
import { findExecutable, whyNotExecutable } from '../../lib/find-executable.ts';
import { runProgram } from '../system/child-process/child.ts';
import { streamProgram } from '../system/child-process/stream-program.ts';
import type { Metrics, QueueState } from '../metrics/metrics.ts';
import { markHandled } from './guard/callbacks.ts';
import { createCorePlan, createQueue, grantThreads } from './scheduling/call-queue.ts';
import type { EngineHost } from './models/instance.ts';
import type { Residents } from './resident/index.ts';
import type { Workspace } from '../system/workspace.ts';
import { SettingsError, type Environment, type LoadedSettings } from '../settings/load.ts';

/** Encodes speech, for the engines and for the service itself. */
export type SpeechEncoder = Pick<EngineContext, 'formats' | 'encode'>;

/** Throws a `SettingsError` if FFMPEG is not executable. */
export function createSpeechEncoder(settings: LoadedSettings, env: Environment, workspace: Workspace): SpeechEncoder {
  const { disk } = workspace;
  const limit = largestSpeech(disk.bytes);
  return createEncoder({
    ffmpeg: findFfmpeg(settings, env),
    temporaryDirectory: () => workspace.directory('speech'),
    openAccount: () => disk.open({ limit }),
  });
}

/** A logger that can create child loggers. */
export type ParentLogger = Logger & { child(facts: object): Logger };

export interface ContextOptions {
  readonly settings: LoadedSettings;
  readonly env: Environment;
  readonly log: ParentLogger;
  readonly workspace: Workspace;
  readonly residents: Residents;
  readonly fetch: EngineContext['fetch'];
  /** The id of this service in chains of services. */
  readonly viaId: string;
  readonly encoder: SpeechEncoder;
  readonly metrics?: Metrics | undefined;
  /** Called for each call queue that an engine creates. */
  readonly registerQueue?: ((instance: string, options: CallQueueOptions) => void) | undefined;
}

/** Returns a function that creates the context of an instance. Throws a `SettingsError` if FFMPEG is not executable. */
export function createEngineContexts({
  settings,
  env,
  log,
  workspace,
  residents,
  fetch,
  viaId,
  metrics,
  registerQueue,
  encoder,
}: ContextOptions): (instance: string, host: EngineHost) => EngineContext {
  const ffmpeg = findFfmpeg(settings, env);
  const { accountOf } = workspace;
  const decode = createDecoder({ ffmpeg, maxSeconds: settings.transcribeMaxSeconds, accountOf });
  const cores = createCorePlan(availableParallelism());
  return (instance, { publish, opened }) => {
    const engineLog = log.child({ engine: instance });
    return {
      instance,
      fetch: withHeaders(fetch, viaId),
      providerHeaders: (url) => ({ [viaHeader]: writeVia(currentVia() ?? [], viaId), ...traceHeaders(url) }),
      env,
      log: engineLog,
      now: Date.now,
      dataDir: settings.dataDir,
      resolve: (path) => resolve(settings.baseDir, path),
      cores: availableParallelism(),
      memoryBudget: residents.budget.bytes,
      temporaryDirectory: () => markHandled(workspace.accountedDirectory(instance)),
      decode: (...call) => markHandled(decode(...call).then(recordLength)),
      ...encoder,
      readWav: (bytes) => markHandled(samplesOf(bytes)),
      publish,
      queue(options) {
        registerQueue?.(instance, options);
        const observe = metrics && ((state: () => QueueState) => metrics.openQueue(instance, state));
        const queue = createQueue(options, () => performance.now(), observe);
        const granted = grantThreads(options, cores);
        opened.queues.push(queue);
        return {
          get full() {
            return queue.full;
          },
          run: (call, listener) => markHandled(queue.run(() => granted(call), listener)),
        };
      },
      resident(program) {
        const resident = residents.open(instance, program, engineLog);
        opened.programs.set(program.name, { program, resident });
        return {
          get state() {
            return resident.state;
          },
          get isFree() {
            return resident.isFree;
          },
          preload: () => resident.preload(),
          call: (...call) => markHandled(resident.call(...call)),
        };
      },
      run: (...call) => markHandled(runProgram(...call)),
      start: streamProgram,
    };
  };
}

/** Records the length of the recording, from which the timeout and the charge of the transcription are derived. */
function recordLength({ gaps, ...decoded }: DecodedRecording): Decoded {
  const usage = currentUsage();
  if (usage) {
    usage.decodedMs = Math.max(usage.decodedMs ?? 0, lengthOf(decoded));
    usage.gapMs = gapMsIn(gaps, decoded);
  }
  return decoded;
}

async function samplesOf(bytes: AsyncIterable<Uint8Array>): Promise<Pcm> {
  const sound = await readWav(bytes);
  if (!sound) throw new WavError('not a WAV file: it is empty');
  return sound;
}

/** Adds the service chain and the trace headers to requests made on behalf of a caller, but not to downloads. */
function withHeaders(fetch: EngineContext['fetch'], viaId: string): EngineContext['fetch'] {
  return (input, init) => {
    const chain = currentVia();
    if (chain === undefined) return fetch(input, init);
    const isRequest = input instanceof Request;
    const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
    headers.set(viaHeader, writeVia(chain, viaId));
    const trace = traceHeaders(isRequest ? input.url : String(input));
    for (const [name, value] of Object.entries(trace)) headers.set(name, value);
    return fetch(input, { ...init, headers: [...headers] });
  };
}

/**
 * Returns the path of ffmpeg, which is used for decoding, and for encoding opus, flac and aac. If undefined, WASM
 * decoders are used, and these three output formats are unavailable.
 */
export function findFfmpeg({ ffmpeg, baseDir }: LoadedSettings, env: Environment): string | undefined {
  if (ffmpeg === undefined) return findExecutable('ffmpeg', env.PATH);
  const path = resolve(baseDir, ffmpeg);
  const problem = whyNotExecutable(path);
  if (problem !== undefined) throw new SettingsError(`FFMPEG: ${problem}; set it to the path of ffmpeg, or remove it`);
  return path;
}
