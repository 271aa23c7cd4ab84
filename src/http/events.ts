/** Events of the contract as server-sent events: `event:` is the type, `id:` the number. */
import type { Schemas } from '../operations.ts';

export async function* toServerSentEvents(events: AsyncIterable<Schemas['ChatEvent']>): AsyncGenerator<string> {
  for await (const event of events) {
    yield `event: ${event.type}\nid: ${String(event.seq)}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}
