/** The state of the turns and the conversation, and the effects of a change. A transcription session has only turns. */
import { notPlaying, type Playing } from '../../realtime/playing.ts';
import { emptyConversation, type Conversation } from './conversation.ts';
import type { Answered, ResponsePlan, Run } from './response-plan.ts';
import type { Response } from './response.ts';
import type { SessionConfig } from './session-config.ts';
import type { ServerEvent } from './server-events.ts';

export interface TalkState extends Answered {
  /**
   * The turn of uncommitted speech: one that has begun or, if the client commits turns, one that contains a voice. Its
   * item is added when it ends.
   */
  readonly openTurn: string | undefined;
  /**
   * The items that are being transcribed, and whether their transcripts are sent. The settings at the commit decide, so
   * that a client gets all events of a transcript or none. The client may have deleted the item.
   */
  readonly transcribing: ReadonlyMap<string, boolean>;
  /** The response that adds to the conversation. */
  readonly active: OpenResponse | undefined;
  /** The responses that do not. */
  readonly beside: readonly OpenResponse[];
  /** Whether a turn waits for its answer. */
  readonly isOwed: boolean;
  readonly early: EarlyAnswer | undefined;
  /** When the last response ended, in milliseconds. */
  readonly endedAt: number;
  /** The sound of all responses. */
  readonly playing: Playing;
  /** The item of the conversation whose sound was sent last, and when that will have been played. */
  readonly spoken: { readonly id: string; readonly untilMs: number } | undefined;
  /** Number of times that the models were warmed up since the last response. */
  readonly warmUps: number;
  /** Number of ids so far. */
  readonly ids: number;
}

/**
 * The answer to a turn that may be over. It is the answer only if the turn has this transcript, and the conversation
 * and the configuration are still these objects.
 */
export interface EarlyAnswer {
  /** The id that the response will have. */
  readonly id: string;
  readonly turn: string;
  readonly transcript: string;
  readonly conversation: Conversation;
  readonly config: SessionConfig;
}

export interface OpenResponse {
  readonly response: Response;
  readonly plan: ResponsePlan;
  /** The turns whose transcripts the response waits for. Undefined once the model has been called. */
  readonly waitsFor: readonly string[] | undefined;
  /** How often the conversation has been shortened for it. */
  readonly cuts: number;
  /** Whether it answers a turn by itself. */
  readonly isAutomatic: boolean;
}

export type TalkEffect =
  | { readonly type: 'send'; readonly event: ServerEvent }
  /**
   * Is followed by parts, and then by `answered` or `broken`. After `prepare`, they follow `release`, and nothing but
   * the budget of the key is affected before.
   */
  | { readonly type: 'run' | 'prepare'; readonly response: string; readonly run: Run }
  | { readonly type: 'release' | 'stop'; readonly response: string }
  /** Is followed by the events of a turn with the id of the item, from its transcription on. */
  | { readonly type: 'transcribe'; readonly item: string; readonly sound: Uint8Array }
  /** Warms up the models for the next turn. */
  | { readonly type: 'warm-up'; readonly run: Run };

export interface TalkContext {
  readonly config: SessionConfig;
  /** Part of all ids. */
  readonly session: string;
  /** In milliseconds. */
  readonly now: number;
}

export const beginTalk: TalkState = {
  ...{ openTurn: undefined, transcribing: new Map<string, boolean>() },
  ...{ conversation: emptyConversation, active: undefined, beside: [], isOwed: false, endedAt: -Infinity },
  early: undefined,
  ...{ playing: notPlaying, spoken: undefined, start: undefined, language: undefined, warmUps: 0, ids: 0 },
};
