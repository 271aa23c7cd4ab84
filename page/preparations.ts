/** What the machine of the service can have: asked for while something is missing, and again while it is prepared. */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Preparation, PreparationList } from '../src/client/index.ts';
import { announce } from './announcements.ts';
import { failureOf, type Failure } from './failure.ts';
import { canChat, canSpeak, canTranscribe, listings, refreshListings } from './listings.ts';
import { client } from './service.ts';

/** Undefined until the first answer, for a key that may not ask, and where there is nothing to prepare. */
export const preparations = signal<PreparationList | undefined>(undefined);
/** Why the last start or stop was refused, by the id of the preparation. */
export const preparationFailure = signal<(Failure & { readonly of: string }) | undefined>(undefined);

export const isAnyInProgress = computed(() => preparations.value?.data.some(isInProgress) === true);

const isInProgress = ({ state }: Preparation) => state === 'preparing';

/** A failure is shown within five seconds; beside it the listings are asked for, and a key may have 60 requests in a minute. */
const askAgainMs = 4_000;
let timer: ReturnType<typeof setTimeout> | undefined;
let current: AbortController | undefined;

/** After each answer of the listings, which come first: they are what can be used. */
export function watchPreparations(): void {
  effect(() => {
    if (listings.value) untracked(refresh);
  });
}

/** Once: a machine that has everything is not asked again. */
function refresh(): void {
  const isComplete = canTranscribe.value && canChat.value && canSpeak.value;
  if (preparations.value && isComplete && !isAnyInProgress.value) return; // a reload asks again
  void refreshPreparations();
}

async function refreshPreparations(): Promise<void> {
  clearTimeout(timer);
  current?.abort();
  const { signal } = (current = new AbortController());
  try {
    take(await client.value.preparations.list({ signal }));
  } catch {
    if (signal.aborted) return;
    // The key may not ask, or the service does not answer: what is known stays.
  }
  if (isAnyInProgress.value) timer = setTimeout(() => void refreshPreparations(), askAgainMs);
}

function take(list: PreparationList): void {
  const before = preparations.value?.data ?? [];
  preparations.value = list;
  const ended = list.data.filter((one) => !isInProgress(one) && before.some(({ id, state }) => id === one.id && state === 'preparing')); // prettier-ignore
  for (const { title, state, reason } of ended) {
    announce(state === 'ready' ? `${title}: ready.` : `${title}: ${reason}`);
  }
  if (ended.length > 0) void refreshListings(); // what is ready works at once
}

/** `start` or `stop`. */
export async function change(id: string, call: 'start' | 'stop'): Promise<void> {
  preparationFailure.value = undefined;
  try {
    const changed = await client.value.preparations[call](id);
    const list = preparations.value;
    if (list) take({ ...list, data: list.data.map((one) => (one.id === id ? changed : one)) });
  } catch (error) {
    preparationFailure.value = { ...failureOf(error), of: id };
  }
  await refreshPreparations();
}
