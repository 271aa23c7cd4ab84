/** Live transcription over a WebSocket. */
import { ProblemError } from '../../contract/problems.ts';
import type { Connect } from '../../contract/session.ts';
import type { Services } from '../../handlers/dependencies.ts';

/** To be replaced by the session. */
export const connectRealtime: Connect<Services> = () =>
  Promise.reject(new ProblemError('no-engine', 'Live transcription is not available yet.'));
