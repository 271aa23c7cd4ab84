import { ProblemError } from '../contract/problems.ts';
import type { Services } from '../handlers/dependencies.ts';
import type { Handler } from './operations.ts';

export const createSpeech: Handler<'createSpeech', Services> = () => {
  throw new ProblemError('not-found', 'Not built yet.');
};
