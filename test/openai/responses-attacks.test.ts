/** Responses under attack: input of every kind, events of the engine in odd orders, clients that leave at every event. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Script } from '../chat/support/script.ts';
import { completed, content, reasoning, stepStarted } from '../chat/support/script.ts';
import { says } from '../engines/llm-agent/support.ts';
import fc from '../support/fast-check.ts';
import { openChatService } from './support/chat.ts';
import { postResponse, readEvents } from './support/responses.ts';

let chatService: Awaited<ReturnType<typeof openChatService>>;
beforeAll(async () => void (chatService = await openChatService(says('Hi.'))));
afterAll(() => chatService[Symbol.asyncDispose]());

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('', '__proto__', 'constructor', '../..', 'x'.repeat(5_000), -1, 1e300, [], [[]], {}, null),
);
const type = fc.constantFrom(
  'message',
  'function_call',
  'function_call_output',
  'reasoning',
  'item_reference',
  'x',
  null,
);
const part = fc.record({
  type: fc.oneof(junk, fc.constantFrom('input_text', 'input_image', 'refusal')),
  text: junk,
  image_url: junk,
});
const text = fc.oneof(junk, fc.array(fc.oneof(part, junk), { maxLength: 3 }));
const item = fc.record(
  {
    type: fc.oneof({ weight: 5, arbitrary: type }, { weight: 1, arbitrary: junk }),
    role: fc.oneof(junk, fc.constantFrom('user', 'assistant', 'system')),
    ...{ content: text, output: text, id: junk, call_id: fc.oneof(junk, fc.constantFrom('a', 'b')), name: junk },
    ...{ namespace: junk, arguments: junk },
  },
  { requiredKeys: [] },
);
const tool = fc.record(
  {
    type: fc.oneof(junk, fc.constantFrom('function', 'namespace', 'web_search')),
    name: junk,
    parameters: junk,
    tools: junk,
  },
  { requiredKeys: [] },
);
const request = fc.record(
  {
    input: fc.oneof(fc.array(fc.oneof(item, junk), { maxLength: 6 }), junk),
    ...{ tools: fc.oneof(fc.array(fc.oneof(tool, junk), { maxLength: 3 }), junk), tool_choice: junk, text: junk },
    ...{ reasoning: junk, include: junk, metadata: junk, store: junk, previous_response_id: junk, background: junk },
  },
  { requiredKeys: ['input'] },
);

it('a request of any kind is answered, or refused with a 4xx that the contract declares', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (body) => {
      const response = await postResponse(chatService.service, { model: 'remote', ...body });
      expect(response.status, await response.text()).toBeLessThan(500);
    }),
    { numRuns: 150 },
  );
});

const events = fc.array(
  fc.oneof(
    fc.string({ maxLength: 3 }).map((delta) => ({ kind: 'content' as const, delta })),
    fc.string({ maxLength: 3 }).map((delta) => ({ kind: 'reasoning' as const, delta })),
    fc.constant({ kind: 'step' as const, delta: '' }),
    fc.constant({ kind: 'fail' as const, delta: '' }),
  ),
  { maxLength: 8 },
);

function scriptOf(list: readonly { readonly kind: string; readonly delta: string }[]): Script {
  const script: Script[number][] = [stepStarted(0)];
  const texts = [''];
  const thoughts = [''];
  for (const { kind, delta } of list) {
    const step = texts.length - 1;
    if (kind === 'step') {
      texts.push('');
      thoughts.push('');
      script.push(stepStarted(step + 1));
    } else if (kind === 'fail') script.push({ fail: 'provider-error' });
    else {
      const into = kind === 'content' ? texts : thoughts;
      into[step] = `${into[step] ?? ''}${delta}`;
      script.push(kind === 'content' ? content(step, delta) : reasoning(step, delta));
    }
  }
  const thought = thoughts.filter((one) => one !== '').join('\n\n');
  return [...script, completed(texts.at(-1) ?? '', thought === '' ? null : thought)];
}

it('events of the engine in any order become a stream that a client can follow', async () => {
  await fc.assert(
    fc.asyncProperty(events, async (list) => {
      const input = JSON.stringify(scriptOf(list));
      const response = await postResponse(chatService.service, { model: 'scripted', input, stream: true });
      if (response.status !== 200) {
        await response.text();
        return;
      }
      const { events: seen } = await readEvents(response);
      expect(seen.map(({ sequence_number: n }) => n)).toEqual(seen.map((_, index) => index));
      const types = seen.map((event) => event.type.replace('response.', ''));
      expect(types.slice(0, 2)).toEqual(['created', 'in_progress']);
      const output = seen.at(-1)!.response!.output;
      const begun = seen.filter((event) => event.type.endsWith('item.added'));
      expect(begun.map((event) => event.output_index)).toEqual(begun.map((_, index) => index));
      expect(output.map(({ id }) => id)).toEqual(begun.map((event) => event.item!.id));
      if (types.at(-1) === 'failed') return;
      expect(types.at(-1)).toBe('completed');
      expect(output.map((one) => one.type)).toEqual(output.length === 2 ? ['reasoning', 'message'] : ['message']);
      const done = seen.filter((event) => event.type.endsWith('item.done'));
      expect(done.map((event) => event.item)).toEqual(output);
    }),
    { numRuns: 100 },
  );
});

it('a client that disconnects at any event ends the run', async () => {
  const script: Script = [stepStarted(0), reasoning(0, 'Hm.'), content(0, 'Hi'), { wait: 'signal' }];
  const input = JSON.stringify(script);
  for (let count = 1; count <= 11; count += 1) {
    const ended = () => chatService.service.log.filter(({ msg }) => msg === 'ended').length;
    const before = ended();
    const leaving = new AbortController();
    const response = await postResponse(
      chatService.service,
      { model: 'scripted', input, stream: true },
      leaving.signal,
    );
    let seen = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body!) {
      seen += decoder.decode(bytes as Uint8Array);
      if (seen.split('\n\n').length > count) break;
    }
    leaving.abort();
    await expect.poll(ended).toBe(before + 1);
  }
});
