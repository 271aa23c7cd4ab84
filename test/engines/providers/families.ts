/** The engines for OpenAI-compatible providers, as the tests that all of them pass see them. */
import type { Answer } from '../../support/http.ts';
import { answers, type Behavior } from '../../support/provider.ts';
import type { TestService } from '../../support/service.ts';
import { callsOf, fineAnswer, recording } from '../hosted-stt/support.ts';
import { says } from '../llm-agent/support.ts';
import { mp3, speaks } from '../tts/support.ts';
import { poster, type Fields } from './support.ts';

export interface Family {
  readonly use: 'hosted-stt' | 'tts' | 'llm-agent';
  /** Path of the listing below /api/v1. */
  readonly list: string;
  /** A response that the engine accepts. */
  readonly fine: Behavior;
  /** What every request to the provider contains. */
  readonly sent: string;
  ask(service: Pick<TestService, 'url'>, fields?: Fields): Promise<Answer>;
}

const question = 'What is the capital of France?';

export const families: readonly Family[] = [
  {
    use: 'hosted-stt',
    list: '/transcribe/models',
    fine: answers(200, fineAnswer),
    sent: recording.toString('latin1'),
    ask: (service, fields) => callsOf(service).transcribe(fields as Record<string, string>),
  },
  {
    use: 'tts',
    list: '/tts/models',
    fine: speaks(mp3),
    sent: 'Good morning.',
    ask: poster('/tts', { text: 'Good morning.' }),
  },
  {
    use: 'llm-agent',
    list: '/models',
    fine: says('Hi.'),
    sent: question,
    ask: poster('/chat', { messages: [{ role: 'user', content: question }] }),
  },
];
