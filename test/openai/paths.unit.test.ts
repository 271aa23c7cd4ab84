/** Paths under /v1 as apps build them. */
import { describe, expect, it } from 'vitest';
import { isOpenAITarget, readOpenAIPath } from '../../src/openai/paths.ts';

describe('a request target', () => {
  it.each(['/v1', '/v1/', '/v1/models', '//v1/models', '/v1?x=1', 'http://a:1/v1/models'])(
    '%s belongs to this API',
    (target) => {
      expect(isOpenAITarget(target)).toBe(true);
    },
  );

  it.each(['/', '/api/v1/models', '/v10', '/v1models', '/x/v1', 'http://v1/models', ''])('%s is not', (target) => {
    expect(isOpenAITarget(target)).toBe(false);
  });
});

describe('a path', () => {
  it.each([
    ['/v1/models', '/v1/models'],
    ['/v1//models', '/v1/models'],
    ['//v1/models///', '/v1/models'],
    ['/v1/', '/v1'],
    ['/v1/models/a', '/v1/models/a'],
    ['/v1/models/openai/gpt-5', '/v1/models/openai%2Fgpt-5'],
    ['/v1/models/a/b%2Fc/d/', '/v1/models/a%2Fb%2Fc%2Fd'],
    ['/v1/audio/models/a/b', '/v1/audio/models/a/b'],
    ['//v1//realtime/', '/v1/realtime'],
  ])('%s is read as %s', (path, read) => {
    expect(readOpenAIPath(path)).toBe(read);
  });

  it.each(['/v1/v1', '/v1/v1/models', '/v1//v1/chat/completions'])('%s is refused with a hint', (path) => {
    expect(() => readOpenAIPath(path)).toThrow('base URL already ends in /v1');
  });

  it.each(['/v1/live/sessions', '/v1/realtime/calls', '/v1/realtime/transcription_sessions'])(
    '%s is refused, and the message names the WebSocket',
    (path) => {
      expect(() => readOpenAIPath(path)).toThrow('a WebSocket at /v1/realtime?intent=transcription');
    },
  );
});
