/** The kinds of recordings that a push leaves out. */
import { describeWith } from '../support/programs.ts';
import { areTranscribed, kinds } from './support/kinds.ts';

describeWith(['ffmpeg', 'whisper-cli'], 'a recording', () => areTranscribed(kinds.rest));
