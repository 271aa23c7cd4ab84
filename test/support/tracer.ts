/** A tracer that keeps the spans that have ended and samples every request. It ends with the test. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import type { Span } from '../../src/trace.ts';

export function startTracer(): { readonly spans: readonly Span[] } {
  const spans: Span[] = [];
  const begin = (span: unknown) => void ((span as Span).trace.flags |= 1);
  const end = (span: unknown) => void spans.push(span as Span);
  subscribe('parlance.span.begin', begin);
  subscribe('parlance.span.end', end);
  onTestFinished(() => {
    unsubscribe('parlance.span.begin', begin);
    unsubscribe('parlance.span.end', end);
  });
  return { spans };
}
