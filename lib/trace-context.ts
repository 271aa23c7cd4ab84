/** The headers `traceparent` and `tracestate` (W3C Trace Context, levels 1 and 2). */

/** The place of a request in its trace. */
export interface Trace {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits of the request's own span. */
  readonly spanId: string;
  /** The caller's span; undefined when the trace begins here. */
  readonly parentId?: string | undefined;
  /** Bit 0: sampled. Bit 1: the trace id is random. As received, until a tracer decides. */
  flags: number;
  /** `tracestate` as received: data from tracing vendors. */
  readonly state?: string | undefined;
}

type Header = string | readonly string[] | undefined;

/** The flags that levels 1 and 2 define. */
const knownFlags = 0b11;

/**
 * Continues the trace of a request, or begins one if `traceparent` is absent or invalid. The new ids reuse digits of the
 * request id, which is a random UUID, because generating more random ids would double the cost.
 */
export function openTrace(requestId: string, traceparent: Header, tracestate: Header): Trace {
  const digits = requestId.replaceAll('-', '');
  const spanId = digits.slice(16);
  const parent = traceparent === undefined ? undefined : readTraceparent(String(traceparent));
  if (parent === undefined) return { traceId: digits, spanId, flags: 0 };
  return { ...parent, spanId, state: readTracestate(tracestate) };
}

/** Returns undefined if the header is invalid. A later version is parsed as version 00, as the standard requires. */
function readTraceparent(header: string): Pick<Trace, 'traceId' | 'parentId' | 'flags'> | undefined {
  const [, version = 'ff', traceId = '', parentId = '', flags = '', more = ''] = pattern.exec(header) ?? [];
  if (version === 'ff' || (version === '00' && more !== '')) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) & knownFlags };
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

const maxStateLength = 512;
const maxMembers = 32;
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Returns undefined if the header is absent, invalid, or longer than a service must pass on. */
function readTracestate(header: Header): string | undefined {
  const text = String(header ?? '').trim();
  if (text === '' || text.length > maxStateLength) return undefined;
  const members = text.split(',').map((one) => one.trim());
  const isValid = members.length <= maxMembers && members.every((one) => one === '' || member.test(one));
  return isValid ? text : undefined;
}

/** Returns the header for requests on behalf of this one. */
export function writeTraceparent({ traceId, spanId, flags }: Trace): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}
