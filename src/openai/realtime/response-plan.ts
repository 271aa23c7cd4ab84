/** Plans a response: its settings, and the call of the model. Pure. */
import type { ChatCall } from '../../../engines/contract/index.ts';
import { invalid } from '../../contract/problems.ts';
import { requireSupport } from '../../engine-host/models/model-selection.ts';
import { UnsupportedValue } from '../errors.ts';
import type { Schemas } from '../operations.ts';
import {
  shownVoice,
  toCall,
  toSettings,
  updateSettings,
  type AnswerModels,
  type AnswerSettings,
} from './answer-settings.ts';
import { instructionsOf, type ConversationConfig } from './conversation-config.ts';
import {
  emptyConversation,
  findItem,
  insert,
  isPending,
  itemsFrom,
  requireRoom,
  turnItem,
  type Conversation,
  type Item,
} from './conversation.ts';
import { isExpected } from './errors.ts';
import { readItem } from './items.ts';
import { toMessages } from './messages.ts';
import type { ResponseFacts } from './response.ts';

export interface ResponsePlan {
  readonly settings: AnswerSettings;
  /** Of the response, in addition to those of the session. */
  readonly instructions: string | undefined;
  /** The items to answer; undefined: the conversation. */
  readonly input: readonly Item[] | undefined;
  /** Whether the output belongs to the conversation. */
  readonly isInConversation: boolean;
  readonly metadata: ResponseFacts['metadata'];
}

/** What it takes to make the answer. */
export interface Run {
  readonly models: AnswerModels;
  readonly settings: AnswerSettings;
  readonly call: Omit<ChatCall, 'model'>;
  /** Whether the client runs the tools. */
  readonly isCallersLoop: boolean;
  /** Language of the last turn. */
  readonly language: string | undefined;
}

/** Throws `Refused` or a problem for settings and items that are not supported. */
export function planResponse(
  sent: Schemas['RealtimeResponseCreate'],
  { settings: current, models }: ConversationConfig,
  conversation: Conversation,
): ResponsePlan {
  const { conversation: place = 'auto', input, metadata = null, instructions } = sent;
  if (place !== null && place !== 'auto' && place !== 'none') {
    throw invalid('body', '/response/conversation', 'must be auto or none');
  }
  const settings = updateSettings(current, sent, models, '/response');
  const known = new Map(input && conversation.items.map((item) => [item.id, item]));
  const items = input?.map((item, index) => readInput(item, known, index));
  if (items) requireRoom(emptyConversation, items, 'response.input');
  const isInConversation = place !== 'none';
  return { settings, instructions: instructions ?? undefined, input: items, isInConversation, metadata };
}

function readInput(item: Schemas['RealtimeItemCreate'], known: ReadonlyMap<string, Item>, index: number): Item {
  const at = `/response/input/${String(index)}`;
  if (item.type !== 'item_reference') {
    const read = readItem(item, at, `input_${String(index)}`);
    if (!isPending(read)) return read;
    throw new UnsupportedValue(`${at}/content`, 'has audio: create the item, and refer to it');
  }
  const found = known.get(item.id ?? '');
  if (found) return found;
  throw invalid('body', `${at}/id`, 'is not the id of an item');
}

/** The plan of an answer to a turn. */
export const planAnswer = ({ settings }: ConversationConfig): ResponsePlan => ({
  ...{ settings, instructions: undefined, input: undefined, isInConversation: true, metadata: null },
});

export function factsOf(
  { settings, isInConversation, metadata }: ResponsePlan,
  { models }: ConversationConfig,
  ids: { readonly response: string; readonly conversation: string },
): ResponseFacts {
  const { output_modalities, max_output_tokens } = toSettings(settings);
  const audio = { output: { format: settings.format, voice: shownVoice(settings, models) } };
  const conversation_id = isInConversation ? ids.conversation : null;
  return { id: ids.response, conversation_id, output_modalities, max_output_tokens, audio, metadata };
}

/** What the model answers. */
export interface Answered {
  readonly conversation: Conversation;
  /** The item with which the model's part of the conversation begins; undefined: the first one. */
  readonly start: string | undefined;
  /** Language of the last turn. */
  readonly language: string | undefined;
}

/** Throws a problem if the model cannot answer. */
export function toRun(
  { settings, instructions, input }: ResponsePlan,
  config: ConversationConfig,
  { conversation, start, language }: Answered,
): Run {
  const { models } = config;
  const transcribed = (item: Item) => (isPending(item) ? findItem(conversation, item.id) : undefined) ?? item;
  const items = input?.map(transcribed) ?? itemsFrom(conversation, start);
  requireRoom(emptyConversation, items, 'response');
  const { messages, hasCalls } = toMessages(items, instructionsOf(config), instructions);
  if (hasCalls) requireSupport(models.chat, 'tools', '/session/tools');
  const isCallersLoop = settings.tools.length > 0 || hasCalls;
  return { models, settings, call: { messages, ...toCall(settings, models.chat) }, isCallersLoop, language };
}

const blankTurn: Item = { ...turnItem(''), content: [{ type: 'input_text', text: ' ' }] };

/**
 * Returns the run for the next turn, by default with a blank text instead of its transcript; undefined if the model cannot
 * answer, which the response will report.
 */
export function toNextRun(config: ConversationConfig, answered: Answered, turn: Item = blankTurn): Run | undefined {
  const conversation = insert(answered.conversation, turn);
  try {
    return toRun(planAnswer(config), config, { ...answered, conversation });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}
