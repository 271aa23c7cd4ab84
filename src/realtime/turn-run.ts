/**
 * One transcription of a turn. It may begin before the turn is committed; until then, its deltas are held back and
 * nothing is charged.
 */
import type { TranscriptionOptions } from '../../engines/contract/index.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { runInScope, type RequestScope, type Used } from '../request-scope.ts';
import { traced } from '../trace.ts';
import { transcribe, type TranscriptionRequest, type TranscriptionServices } from '../transcription/run.ts';
import { streamTranscript, toTextDeltas, type TextDelta } from '../transcription/stream.ts';

export interface TurnRunOptions {
  readonly model: ServedModel<'transcription'>;
  readonly request: TranscriptionRequest;
  /** The scope of the session. The run has its own scope. */
  readonly scope: RequestScope;
  readonly signal: AbortSignal;
  readonly services: TranscriptionServices;
}

export type TurnTranscript = Extract<TextDelta, { text: string }>;

export interface TurnRun {
  /** A rejection never counts as unhandled, because it may occur before anyone awaits the promise. */
  readonly transcript: Promise<TurnTranscript>;
  readonly hasFailed: boolean;
  /** Charges the run and passes on its deltas, including the deltas so far. */
  publish(onDelta: (delta: string) => void): void;
}

export function startTurnRun({ model, request, scope, signal, services }: TurnRunOptions): TurnRun {
  const kept: string[] = [];
  const charged = Promise.withResolvers<Used>();
  let reader: ((delta: string) => void) | undefined;
  let hasFailed = false;
  const { id = '' } = scope;
  const own = { ...scope, usage: {}, charge: scope.charge && charged.resolve };

  const work = (options: TranscriptionOptions) => transcribe(model, request, options, services);

  async function read(): Promise<TurnTranscript> {
    const started = performance.now();
    let end: TurnTranscript | undefined;
    for await (const part of toTextDeltas(streamTranscript(model, work, { id, signal }))) {
      if ('text' in part) end = part;
      else if (reader) reader(part.delta);
      else kept.push(part.delta);
    }
    lastRuns(model).set(model.engineId, performance.now() - started);
    if (!end) throw new Error('the transcription has ended without a transcript');
    return end;
  }

  const transcript = runInScope(own, () => traced('transcribe turn', {}, read));
  transcript.catch(() => (hasFailed = true));
  return {
    transcript,
    get hasFailed() {
      return hasFailed;
    },
    publish(onDelta) {
      for (const delta of kept.splice(0)) onDelta(delta);
      reader = onDelta;
      void charged.promise.then((used) => scope.charge?.(used));
    },
  };
}

/** How long the last transcription of a turn took in this process, including the queue; Infinity before the first. */
export const lastRunMs = (model: ServedModel<'transcription'>): number =>
  lastRuns(model).get(model.engineId) ?? Infinity;

const runsOf = new WeakMap<object, Map<string, number>>();

function lastRuns({ engine }: ServedModel): Map<string, number> {
  const runs = runsOf.get(engine) ?? new Map<string, number>();
  runsOf.set(engine, runs);
  return runs;
}
