/** What the tests of responses share: raw requests and their events. */
import type { TestService } from '../../support/service.ts';

export const ask = { model: 'remote', input: 'What is the capital of France?' };

interface Item {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly arguments?: string;
}

export interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly item?: Item;
  readonly delta?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly response?: {
    readonly status: string;
    readonly output: readonly Item[];
    readonly error: { readonly code: string; readonly message: string } | null;
  };
}

export function postResponse({ url }: Pick<TestService, 'url'>, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** Throws for an event whose name is not its type. */
export async function readEvents(response: Response): Promise<{ text: string; events: Event[] }> {
  const text = await response.text();
  const events = text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [name = '', data = ''] = block.split('\n');
      const event = JSON.parse(data.slice('data: '.length)) as Event;
      if (name !== `event: ${event.type}`) throw new Error(`${name} has the type ${event.type}`);
      return event;
    });
  return { text, events };
}

export async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
