import { ProblemError } from '../contract/problems.ts';
import type { Services } from '../handlers/dependencies.ts';
import type { Handler } from './operations.ts';

export const createTranscription: Handler<'createTranscription', Services> = () => {
  throw new ProblemError('not-found', 'Not built yet.');
};
