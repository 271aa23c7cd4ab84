/** A whole event stream as the tests read it: taken apart by the book, held against the contract's rules of order. */

export interface StreamedEvent {
  readonly type: string;
  readonly seq: number;
  readonly [field: string]: unknown;
}

const terminal = ['chat.completed', 'chat.failed', 'transcription.completed', 'transcription.failed'];

/** The events; throws at the first that breaks what the contract says of a whole stream. */
export function readEventStream(text: string, complain: (what: string) => Error): StreamedEvent[] {
  if (!text.endsWith('\n\n')) throw complain('its last event is cut off');
  const events = text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => readEvent(block, complain));
  const ends = events.filter(({ type }) => terminal.includes(type));
  if (ends.length !== 1 || ends[0] !== events.at(-1)) throw complain('it does not end with its one terminal event');
  const gap = events.findIndex(({ seq }, index) => seq !== index);
  if (gap >= 0) throw complain(`event ${gap} has another number`);
  return events;
}

function readEvent(block: string, complain: (what: string) => Error): StreamedEvent {
  // Not `.`, which takes U+2028 and U+2029 for the end of a line: those of a stream end with CR and LF alone.
  const [, type, id, data] = /^event: (\S+)\nid: (\d+)\ndata: ([^\r\n]+)$/.exec(block) ?? [];
  if (data === undefined) throw complain(`this is no event of ours: ${block}`);
  const event = JSON.parse(data) as StreamedEvent;
  if (event.type !== type || String(event.seq) !== id) throw complain(`head and data differ: ${block}`);
  return event;
}

/** The chunks of a stream under /v1, without the error that ends a failed one; throws where clients would misread it. */
export function readChunks(text: string, complain: (what: string) => Error): object[] {
  if (!text.endsWith('\n\n')) throw complain('its last event is cut off');
  const events = text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => /^(?:event: response\.[a-z_.]+\n)?data: ([^\r\n]+)$/.exec(block)?.[1] ?? '');
  // The events of a response say themselves which is the last.
  if (text.startsWith('event: response.')) {
    const whole = events.map((data) => JSON.parse(data) as { readonly type: string });
    if (/^response\.(completed|incomplete|failed)$/.test(whole.at(-1)?.type ?? '')) return whole;
    throw complain('its last event ends no response');
  }
  if (events.at(-1)?.includes('"type":"speech.audio.done"')) return events.map((data) => JSON.parse(data) as object);
  const last = events.pop() ?? '';
  if (last !== '[DONE]' && !last.startsWith('{"error":')) throw complain('it ends with neither [DONE] nor an error');
  return events.map((data) => JSON.parse(data) as object);
}
