/**
 * The trace of the current request: headers for outgoing requests, and spans for a tracer. A tracer is a module,
 * supplied by the operator, that subscribes to the channels below (deploy/otel.mjs). Without a tracer, a span costs
 * only a flag check.
 */
import { channel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../lib/loopback.ts';
import { writeTraceparent, type Trace } from '../lib/trace-context.ts';
import { currentScope } from './request-scope.ts';

export type Attributes = Readonly<Record<string, string | number | readonly string[]>>;

/** A span must not contain texts, file names, or anything else that a caller has sent. */
export interface Span {
  /** `server` is the request itself, whose span id is `trace.spanId`. All other spans are its children. */
  readonly kind: 'server' | 'client' | 'internal';
  /** A tracer may set `flags` when the request begins. They are forwarded to upstream services. */
  readonly trace: Trace;
  name: string;
  attributes: Attributes;
  isOver: boolean;
}

/** Both channels receive the same `Span` object. */
const [begins, ends] = [channel('parlance.span.begin'), channel('parlance.span.end')];
const exits = channel('parlance.exit');

export function hasTracer(): boolean {
  return begins.hasSubscribers;
}

/** Returns undefined without a tracer and outside of requests. */
export function beginSpan(kind: Span['kind'], name: string, attributes: Attributes = {}): Span | undefined {
  if (!begins.hasSubscribers) return undefined;
  const trace = currentScope()?.trace;
  if (trace === undefined) return undefined;
  const span: Span = { kind, name, trace, attributes, isOver: false };
  begins.publish(span);
  return span;
}

/** Ends a span. The attribute `error.type` marks a failure. Only the first call counts. */
export function endSpan(span: Span | undefined, attributes: Attributes = {}, name = span?.name): void {
  if (span === undefined || name === undefined || span.isOver) return;
  Object.assign(span, { name, attributes: { ...span.attributes, ...attributes }, isOver: true });
  ends.publish(span);
}

/** Runs the work inside a span. */
export function traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const span = beginSpan('internal', name, attributes);
  return span === undefined ? work() : runTraced(span, work);
}

async function runTraced<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    endSpan(span, { 'error.type': errorType(error) });
    throw error;
  } finally {
    endSpan(span);
  }
}

/** Returns the code of a problem or the class of an error. Messages may quote what a caller has sent. */
export function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return [code, name].find((one) => typeof one === 'string') ?? 'unknown';
}

/**
 * Returns the trace headers for an outgoing request to this URL; empty outside of requests. `tracestate` contains data
 * from the caller's tracing vendor, so it is sent only to loopback addresses.
 */
export function traceHeaders(url: string | undefined): Readonly<Record<string, string>> {
  const trace = currentScope()?.trace;
  if (trace === undefined) return {};
  const { state } = trace;
  const isNear = state !== undefined && url !== undefined && isLoopback(URL.parse(url)?.hostname ?? '');
  return { traceparent: writeTraceparent(trace), ...(isNear && { tracestate: state }) };
}

/** Lets a tracer send its last spans before the process exits. */
export async function flushSpans(timeoutMs: number): Promise<void> {
  const pending: Promise<unknown>[] = [];
  exits.publish({ waitUntil: (work: Promise<unknown>) => void pending.push(work) });
  if (pending.length > 0) await Promise.race([Promise.allSettled(pending), sleep(timeoutMs)]);
}
