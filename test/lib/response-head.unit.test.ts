import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { dropHeads } from '../../lib/response-head.ts';

test('the raw head of a response is there while it is read, and then gone', () => {
  const controller = {
    rawHeaders: [Buffer.from('name'), Buffer.from('value')],
  } as unknown as Dispatcher.DispatchController;
  const seen: unknown[] = [];
  const dispatch = dropHeads((_request, handler) => {
    handler.onResponseStart?.(controller, 200, { name: 'value' }, 'OK');
    handler.onResponseData?.(controller, Buffer.from('body'));
    return true;
  });
  dispatch(
    { path: '/', method: 'GET' },
    {
      onResponseStart: ({ rawHeaders }, ...head) => void seen.push(rawHeaders?.length, ...head),
      onResponseData: (_controller, chunk) => void seen.push(String(chunk)),
    },
  );
  expect(seen).toEqual([2, 200, { name: 'value' }, 'OK', 'body']);
  expect(controller.rawHeaders).toBeNull();
});
