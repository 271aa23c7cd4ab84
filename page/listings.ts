/** The three model listings and the transcription probe, polled while they may change. */
import { computed, effect, signal, untracked } from '@preact/signals';
import {
  ParlanceError,
  type ModelEntry,
  type SpeechModelEntry,
  type TranscriptionAvailability,
} from '../src/client/index.ts';
import {
  choose,
  chooseVoice,
  isPreparing,
  recordingFieldsFor,
  speakerFieldsFor,
  timestampsFor,
  type Listing,
} from './choices.ts';
import { failureOf, isNotAllowed, type Failure } from './failure.ts';
import { askIfRefused, isKeyAsked } from './key.ts';
import { preferences } from './preferences.ts';
import { client } from './service.ts';

interface Listings {
  readonly transcription: Listing;
  readonly chat: Listing;
  readonly speech: Listing<SpeechModelEntry>;
  /** Undefined if the key may not request it. */
  readonly probe: TranscriptionAvailability | undefined;
}

/** Undefined until the first answer. */
export const listings = signal<Listings | undefined>(undefined);
/** True if there is no key, or if it was refused. */
export const isKeyMissing = signal(false);
export const listingFailure = signal<Failure | undefined>(undefined);

/**
 * Each refresh sends four requests, in addition to those for preparations, and a key may be limited to 60 per minute.
 */
const askAgainMs = 6_000;
const longestPauseMs = 300_000;
/** A file that was copied by hand is noticed within ten seconds. */
const lookAgainSeconds = 9;
let timer: ReturnType<typeof setTimeout> | undefined;
let current: AbortController | undefined;

export const chosen = computed(() => {
  const { transcriptionModel, chatModel, speechModel, voice } = preferences.value;
  const lists = listings.value;
  const speech = lists && choose(lists.speech, speechModel);
  return {
    transcription: lists && choose(lists.transcription, transcriptionModel),
    chat: lists && choose(lists.chat, chatModel),
    speech,
    voice: chooseVoice(speech, voice),
  };
});

/** The fields that are sent with every recording. */
export const recordingFields = computed(() => recordingFieldsFor(chosen.value.transcription, preferences.value));

/** Sent with a recording that the reader will show. */
export const timestamps = computed(() => timestampsFor(chosen.value.transcription));

/** Sent with a file. What is said into the microphone has one speaker. */
export const speakerFields = computed(() => speakerFieldsFor(chosen.value.transcription, preferences.value));

export const canTranscribe = computed(() => chosen.value.transcription?.available === true);
export const canChat = computed(() => chosen.value.chat?.available === true);
export const canSpeak = computed(() => chosen.value.speech?.available === true);

/** Refreshes whenever the key changes or the user returns to the page. */
export function watchListings(): void {
  effect(() => void (client.value, untracked(refreshListings)));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && !isKeyAsked.value) void refreshListings();
  });
}

export async function refreshListings(): Promise<void> {
  clearTimeout(timer);
  current?.abort();
  const { signal } = (current = new AbortController());
  try {
    const service = client.value;
    const transcription = await unlessRefused(service.transcriptionModels({ signal })); // first: a bad key fails once
    const [chat, speech, probe] = await Promise.all([
      unlessRefused(service.chatModels({ signal })),
      unlessRefused(service.speechModels({ signal })),
      service.transcriptionAvailability({ signal }).catch(undefinedIfNotAllowed),
    ]);
    listings.value = { transcription, chat, speech, probe };
    listingFailure.value = undefined;
    isKeyMissing.value = false;
    if (mayChange(listings.value)) askAgain();
    else if (!canTranscribe.value || !canChat.value || !canSpeak.value) askAgain(lookAgainSeconds, true);
  } catch (error) {
    if (signal.aborted) return;
    if (askIfRefused(error)) {
      isKeyMissing.value = true;
      return;
    }
    isKeyMissing.value = false;
    listingFailure.value = failureOf(error);
    askAgain(error instanceof ParlanceError ? error.retryAfter : undefined);
  }
}

/** If the key permits only one capability, the other listings are empty and have a reason. */
async function unlessRefused<E extends ModelEntry>(listing: Promise<Listing<E>>): Promise<Listing<E>> {
  try {
    return await listing;
  } catch (error) {
    if (isNotAllowed(error)) return { data: [], default: null, refusal: error.detail };
    throw error;
  }
}

function undefinedIfNotAllowed(error: unknown): undefined {
  if (!isNotAllowed(error)) throw error;
}

/** `isPatient`: does not ask while the page is hidden; the user's return to the page triggers a request anyway. */
function askAgain(seconds = 0, isPatient = false): void {
  const ms = Math.min(longestPauseMs, Math.max(askAgainMs, seconds * 1_000)); // timers over 24 days fire immediately
  timer = setTimeout(() => {
    if (!isPatient || document.visibilityState === 'visible') void refreshListings();
  }, ms);
}

function mayChange({ transcription, chat, speech, probe }: Listings): boolean {
  const entries: readonly Pick<ModelEntry, 'code'>[] = [...transcription.data, ...chat.data, ...speech.data];
  return entries.some(isPreparing) || (probe !== undefined && isPreparing(probe));
}
