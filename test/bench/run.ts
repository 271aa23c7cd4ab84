/** `npm run bench`: all benchmarks, one table. They print and judge nothing: times are the machine's as much as ours. */
import { benchChat } from './chat.ts';
import { benchLimits } from './limits.ts';
import { benchListing } from './listing.ts';
import { benchMemory } from './memory.ts';
import { benchMetrics } from './metrics.ts';
import { benchSpeech } from './speech.ts';
import { benchStreams } from './streams.ts';
import { runBenchmarks } from './support/table.ts';
import { benchTranscribe } from './transcribe.ts';

await runBenchmarks([
  benchTranscribe,
  benchListing,
  benchMemory,
  benchChat,
  benchLimits,
  benchMetrics,
  benchStreams,
  benchSpeech,
]);
