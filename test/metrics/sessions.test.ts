/** What the sessions of live transcription leave in the metrics and in their log line. */
import { expect, it } from 'vitest';
import { connect, refusal, useSessions } from '../http/support/sessions.ts';
import { startTestService } from '../support/service.ts';
import { find, readSeries } from './support.ts';

const words = 'the words of somebody';

/** Each message is a turn of half a second. */
useSessions(async (socket, { turnEnded }) => {
  for await (const { text } of socket.messages) {
    turnEnded(500);
    socket.send(String(text));
  }
});

it('sessions, turns and early transcriptions are counted, and the log line has no word of them', async () => {
  await using service = await startTestService({ env: { METRICS_PORT: '0', PARLANCE_SANDBOX: '1' } });
  const value = async (name: string, labels = {}) => find(await readSeries(service), name, labels).sum;
  const [one] = [await connect(service), await connect(service)];
  for (let turn = 0; turn < 3; turn += 1) {
    one.ws.send(words);
    expect(await one.next()).toBe(words);
  }
  expect(await value('parlance_realtime_sessions')).toBe(2);
  expect(await value('parlance_realtime_turns_total')).toBe(3);
  expect(find(await readSeries(service), 'parlance_realtime_early_total').count).toBe(3);
  const upgraded = { http_route: '/v1/realtime', http_response_status_code: '101', error_type: '' };
  expect(await value('http_server_request_duration_seconds_count', upgraded)).toBe(2);
  expect(await value('http_server_active_requests', { http_request_method: 'GET' })).toBe(0);
  one.ws.close(1000);
  await expect.poll(() => value('parlance_realtime_session_seconds_count')).toBe(1);
  expect(await value('parlance_realtime_sessions')).toBe(1);
  await expect.poll(() => service.log.filter(({ status }) => status === 101)).toHaveLength(1);
  expect(service.log.find(({ status }) => status === 101)).toMatchObject({ turns: 3, audio_ms: 1500, close: 1000 });
  expect(JSON.stringify(service.log)).not.toContain('somebody');

  expect((await refusal(service, {}, '/v1/realtime?intent=none')).status).toBe(400);
  const refused = { http_route: '/v1/realtime', http_response_status_code: '400', error_type: 'invalid-request' };
  expect(await value('http_server_request_duration_seconds_count', refused)).toBe(1);
});
