/** For a service in a process of its own: `node --import .../preload.ts src/bin/start.ts`. */
import { recordAnswers } from './recorder.ts';

recordAnswers();
