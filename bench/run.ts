/**
 * `npm run bench`: runs all benchmarks and prints one table; `npm run bench -- fleet chat` runs these two; `-- --write`
 * also writes docs/benchmarks.md. Exits with 1 if a row misses its goal by more than 20 %.
 */
import { benchChat } from './chat.ts';
import { benchChoices } from './choices.ts';
import { benchConversation } from './conversation.ts';
import { benchFleetCost } from './fleet-cost.ts';
import { benchFleet } from './fleet.ts';
import { benchFloods } from './floods.ts';
import { benchLimits } from './limits.ts';
import { benchListing } from './listing.ts';
import { benchLoad } from './load.ts';
import { benchLoaded } from './loaded.ts';
import { benchLocalChat } from './local-chat.ts';
import { benchMemory } from './memory.ts';
import { benchMetrics } from './metrics.ts';
import { benchPage } from './page.ts';
import { benchReader } from './reader.ts';
import { benchParts } from './parts.ts';
import { benchRealtime } from './realtime.ts';
import { benchSpeech } from './speech.ts';
import { benchStart } from './start.ts';
import { benchStreams } from './streams.ts';
import { runBenchmarks } from './support/table.ts';
import { benchTranscribe } from './transcribe.ts';
import { benchVoice } from './voice.ts';
import { benchVoiceActivity } from './voice-activity.ts';

const benchmarks = {
  start: benchStart,
  page: benchPage,
  reader: benchReader,
  transcribe: benchTranscribe,
  loaded: benchLoaded,
  load: benchLoad,
  listing: benchListing,
  memory: benchMemory,
  chat: benchChat,
  choices: benchChoices,
  parts: benchParts,
  limits: benchLimits,
  metrics: benchMetrics,
  streams: benchStreams,
  speech: benchSpeech,
  voice: benchVoice,
  voiceActivity: benchVoiceActivity,
  realtime: benchRealtime,
  conversation: benchConversation,
  floods: benchFloods,
  localChat: benchLocalChat,
  fleet: benchFleet,
  fleetCost: benchFleetCost,
};

const named = process.argv.slice(2).filter((name): name is keyof typeof benchmarks => Object.hasOwn(benchmarks, name));
await runBenchmarks(named.length > 0 ? named.map((name) => benchmarks[name]) : Object.values(benchmarks));
