/** For a service in a process of its own: `node --import .../preload.ts src/main.ts`. */
import { recordAnswers } from './recorder.ts';

recordAnswers();
