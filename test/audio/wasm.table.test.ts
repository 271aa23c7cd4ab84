/** The kinds of recordings that a push leaves out. */
import { vi } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { agreements, ffmpegOf, givesTheSame } from './agreement.ts';

vi.setConfig({ testTimeout: 120_000 });

describeWith(['ffmpeg'], 'decoding without ffmpeg', ({ ffmpeg }) => givesTheSame(ffmpegOf(ffmpeg), agreements.rest));
