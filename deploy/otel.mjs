/**
 * Sends the spans of the service to an OpenTelemetry collector. Copy this file into a directory of its own and install
 * the packages there, all of one release:
 *
 *     npm install @opentelemetry/api@1.9.0 @opentelemetry/sdk-trace-base@2.12.1 \
 *       @opentelemetry/exporter-trace-otlp-http@0.223.1 @opentelemetry/resources@2.12.1
 *     NODE_OPTIONS="--import /opt/parlance-otel/otel.mjs" OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 npm start
 *
 * OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER (with _ARG), OTEL_EXPORTER_OTLP_HEADERS and the other
 * variables of the SDK work as documented there. A test of the project runs this file with these versions.
 */
import { subscribe } from 'node:diagnostics_channel';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) await start(); // decoding threads load the file, too

async function start() {
  const api = await import('@opentelemetry/api');
  const { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } = await import('@opentelemetry/sdk-trace-base');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources');
  // The SDK says on stderr when the collector does not answer; by default it says nothing.
  api.diag.setLogger(new api.DiagConsoleLogger(), { logLevel: api.DiagLogLevel.WARN });

  // The span of a request has the ids that the service logs and passes on.
  const random = new RandomIdGenerator();
  let own;
  const provider = new BasicTracerProvider({
    idGenerator: {
      generateTraceId: () => own?.traceId ?? random.generateTraceId(),
      generateSpanId: () => own?.spanId ?? random.generateSpanId(),
    },
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'parlance' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('parlance');

  function contextOf({ kind, trace: { traceId, spanId, parentId, flags, state } }) {
    const isRemote = kind === 'server';
    const parent = isRemote ? parentId : spanId;
    if (parent === undefined) return api.ROOT_CONTEXT;
    const traceState = state === undefined ? undefined : api.createTraceState(state);
    const place = { traceId, spanId: parent, traceFlags: flags, isRemote, traceState };
    return api.trace.setSpanContext(api.ROOT_CONTEXT, place);
  }

  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT, internal: api.SpanKind.INTERNAL };
  const open = new WeakMap();

  subscribe('parlance.span.begin', (span) => {
    const { kind, name, attributes, trace } = span;
    own = kind === 'server' ? trace : undefined;
    const begun = tracer.startSpan(name, { kind: kinds[kind], attributes }, contextOf(span));
    own = undefined;
    // The sampler decides about the whole request: the decision is passed on to providers.
    if (kind === 'server') trace.flags = (trace.flags & ~1) | (begun.spanContext().traceFlags & 1);
    open.set(span, begun);
  });

  subscribe('parlance.span.end', (span) => {
    const { name, attributes } = span;
    const begun = open.get(span)?.updateName(name).setAttributes(attributes);
    if ('error.type' in attributes) begun?.setStatus({ code: api.SpanStatusCode.ERROR });
    begun?.end();
  });

  subscribe('parlance.exit', ({ waitUntil }) => waitUntil(provider.shutdown()));
}
