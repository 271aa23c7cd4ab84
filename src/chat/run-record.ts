/** Measures a run: for the metrics, and for the log line of its request. */
import type { AgentEvent, ChatResult, Tool } from '../../engines/contract/index.ts';
import { currentKey, currentUsage } from '../caller.ts';
import type { ServedModel } from '../engine-host/registry.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';

export interface RunFacts {
  readonly model: ServedModel<'chat'>;
  /** The service's own. */
  readonly tools: readonly Tool[];
  /** Whether the caller reads the run as a stream. */
  readonly isStream: boolean;
  /** The signal of the request. */
  readonly signal: AbortSignal;
}

export interface RunRecord {
  /** Receives every event of the run. */
  see(event: AgentEvent): void;
  /** Called once, for a run that ends without a result. */
  fail(error: unknown): void;
}

/** Begins now, when the engine is called. */
export function recordRun({ model, tools, isStream, signal }: RunFacts, metrics: Metrics | undefined): RunRecord {
  const [usage, key, started] = [currentUsage(), currentKey()?.name, performance.now()];
  const call = { engine: model.instance, model: model.id, key };
  let firstChunkMs: number | undefined;

  function complete({ usage: used }: ChatResult): void {
    const tokens = used
      ? { input: used.promptTokens, output: used.completionTokens, total: used.totalTokens }
      : undefined;
    if (usage && tokens) usage.tokens = tokens.total;
    metrics?.chatEnded({ ...call, ms: performance.now() - started, firstChunkMs, tokens });
  }

  return {
    see(event) {
      if (event.type === 'step-started') return;
      if (isStream) firstChunkMs ??= performance.now() - started;
      if (event.type === 'completed') complete(event.result);
      else if (event.type === 'tool-finished') metrics?.toolEnded(offered(event.name), event.ok);
    },
    fail(error) {
      metrics?.chatEnded({ ...call, ms: performance.now() - started, firstChunkMs, error: errorTypeOf(error, signal) });
    },
  };

  /** Models also call tools that do not exist. */
  function offered(name: string): string {
    return tools.some((tool) => tool.name === name) ? name : 'other';
  }
}
