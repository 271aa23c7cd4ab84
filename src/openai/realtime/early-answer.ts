/** The answer to a turn that may be over: it begins before the turn is committed, and is sent only afterwards. Pure. */
import type { Transcript } from '../../realtime/open-turn.ts';
import type { ConversationConfig } from './conversation-config.ts';
import { isPending, turnItem } from './conversation.ts';
import { isExpected } from './errors.ts';
import { toNextRun, type Run } from './response-plan.ts';
import type { TalkState } from './talk-state.ts';

/** Returns undefined if something else comes first, or a model is not local. */
export function planEarly(
  turn: string,
  { transcript, languages }: Transcript,
  state: TalkState,
  config: ConversationConfig,
): Run | undefined {
  if (!config.createsResponse || !config.input?.detection || transcript.trim() === '') return undefined;
  const { active, isOwed, early, conversation } = state;
  if (active || isOwed || early || conversation.items.some(isPending) || !isLocal(config)) return undefined;
  const item = { ...turnItem(turn), content: [{ type: 'input_audio', transcript }] } as const;
  try {
    return toNextRun(config, { ...state, language: languages?.[0] ?? state.language }, item);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined; // the response will report it
  }
}

const isLocal = ({ models: { chat, speech }, settings }: ConversationConfig): boolean =>
  chat.entry.local && (settings.modality === 'text' || speech?.entry.local === true);
