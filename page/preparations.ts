/**
 * Models that can be installed on the server. The list is polled while a configured model is missing and during an
 * installation.
 */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Preparation, PreparationList } from '../src/client/index.ts';
import { announce } from './announcements.ts';
import { failureOf, type Failure } from './failure.ts';
import { canChat, canSpeak, canTranscribe, listings, refreshListings } from './listings.ts';
import { client } from './service.ts';

/** Undefined until the first answer, and for a key that may not list them. */
export const preparations = signal<PreparationList | undefined>(undefined);
/** The failure of the last start or stop, with the id of its preparation. */
export const preparationFailure = signal<(Failure & { readonly of: string }) | undefined>(undefined);

/** Ids of the preparations that were installed during this visit. */
export const installed = signal<ReadonlySet<string>>(new Set());

export const isInstalling = computed(() => preparations.value?.data.some(isInProgress) === true);

const isInProgress = ({ state }: Preparation) => state === 'preparing';

/**
 * Id of the preparation that this page has started: the service accepts one at a time, apart from those that it starts
 * by itself.
 */
const startedId = signal<string | undefined>(undefined);

export const mayStart = computed(
  () => !preparations.value?.data.some((one) => one.id === startedId.value && isInProgress(one)),
);

/**
 * A failure is shown within five seconds, and a file that was copied by hand within ten; the listings are requested as
 * well, and a key may be limited to 60 requests per minute.
 */
const askAgainMs = { installing: 4_000, missing: 8_000 } as const;
let timer: ReturnType<typeof setTimeout> | undefined;
let current: AbortController | undefined;

/** Follows each answer of the listings: they decide whether a model is missing. */
export function watchPreparations(): void {
  effect(() => {
    if (listings.value) untracked(refresh);
  });
}

/** A server that has every model is queried once. */
function refresh(): void {
  const isComplete = canTranscribe.value && canChat.value && canSpeak.value;
  if (preparations.value && isComplete && !isInstalling.value) return; // a reload queries again
  void refreshPreparations();
}

export async function refreshPreparations(): Promise<void> {
  clearTimeout(timer);
  current?.abort();
  const { signal } = (current = new AbortController());
  try {
    take(await client.value.preparations.list({ signal }));
  } catch {
    if (signal.aborted) return;
    // The key may not list them, or the service does not respond: the last list is kept.
  }
  const pace = isInstalling.value ? 'installing' : preparations.value?.data.some(isMissing) ? 'missing' : undefined;
  if (pace) timer = setTimeout(() => void (isIdle(pace) || refreshPreparations()), askAgainMs[pace]);
}

const isMissing = ({ configured, state }: Preparation) => configured && state === 'missing';

/** A hidden page does not look for files. When the user returns, the listings are requested, which ends this. */
const isIdle = (pace: keyof typeof askAgainMs) => pace === 'missing' && document.visibilityState === 'hidden';

function take(list: PreparationList): void {
  const before = preparations.value?.data ?? [];
  preparations.value = list;
  const ended = list.data.filter(({ id, state }) => {
    const was = before.find((one) => one.id === id)?.state ?? state;
    return was !== state && (was === 'preparing' || state === 'ready'); // or it was installed in a terminal
  });
  for (const { title, state, reason } of ended) {
    announce(state === 'ready' ? `${title}: ready.` : `${title}: ${reason}`);
  }
  const added = ended.filter(({ state }) => state === 'ready').map(({ id }) => id);
  if (added.length > 0) installed.value = new Set([...installed.value, ...added]);
  if (ended.length > 0) void refreshListings(); // a new model is usable immediately
}

/** Starts or stops an installation. */
export async function change(id: string, call: 'start' | 'stop'): Promise<void> {
  preparationFailure.value = undefined;
  if (call === 'start') startedId.value = id;
  try {
    const changed = await client.value.preparations[call](id);
    const list = preparations.value;
    if (list) take({ ...list, data: list.data.map((one) => (one.id === id ? changed : one)) });
  } catch (error) {
    preparationFailure.value = { ...failureOf(error), of: id };
  }
  await refreshPreparations();
}
