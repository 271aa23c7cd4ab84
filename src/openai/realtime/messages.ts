/** Converts the items of a conversation to the messages that the model sees. Pure. */
import type { Message } from '../../../engines/contract/index.ts';
import { invalid } from '../../contract/problems.ts';
import { createConversation } from '../conversation.ts';
import { textOf, type CallItem, type Item, type MessageItem } from './conversation.ts';

/**
 * Returns the messages, and whether there are calls of the client's tools. `ofSession` and `ofResponse` are the
 * instructions: "" for none; a response without its own has undefined. Throws `invalid-request` without a message and
 * instructions.
 */
export function toMessages(items: readonly Item[], ofSession: string, ofResponse: string | undefined) {
  // LiveKit repeats the instructions of the session. Cached prompts remain valid if the rest comes last.
  const isLonger = ofSession !== '' && ofResponse?.startsWith(ofSession);
  const first = isLonger ? ofSession : (ofResponse ?? ofSession);
  const last = isLonger ? ofResponse?.slice(ofSession.length).trim() : undefined;
  const { messages, toolField } = joined(items);
  const all: readonly Message[] = [...system(first), ...messages, ...system(last)];
  return { messages: withUser(all), hasCalls: toolField !== undefined };
}

const system = (content = ''): Message[] => (content === '' ? [] : [{ role: 'system', content }]);

/**
 * Some templates and providers need a message of the user, so without one, the last system message becomes it. It comes
 * last after an answer, because many models continue a last message of the assistant.
 */
function withUser(messages: readonly Message[]): readonly Message[] {
  if (messages.some(({ role }) => role === 'user')) return messages;
  const index = messages.findLastIndex(({ role }) => role === 'system');
  const message = messages[index];
  const isAnswered = messages.at(-1)?.role === 'assistant';
  if (message)
    return messages
      .toSpliced(index, 1)
      .toSpliced(isAnswered ? messages.length : index, 0, { ...message, role: 'user' });
  throw invalid('body', '/response', 'has nothing to answer: there are no instructions and no message of the user');
}

/** Joins calls to the message before them, followed by their outputs, wherever those are. */
function joined(items: readonly Item[]) {
  const outputs = new Map(
    items.flatMap((item) => (item.type === 'function_call_output' ? [[item.callId, item.output] as const] : [])),
  );
  const builder = createConversation();
  let calls: CallItem[] = [];
  const answer = () => {
    for (const { callId } of calls) builder.output(callId, outputs.get(callId) ?? noResult, '');
    calls = [];
  };
  for (const item of items) {
    if (item.type === 'function_call' && isComplete(item)) {
      builder.call({ id: item.callId, name: item.name, arguments: item.arguments }, '/input');
      calls.push(item);
      continue;
    }
    answer();
    const content = item.type === 'message' ? contentOf(item) : '';
    if (item.type === 'message' && content !== '') builder.say({ role: item.role, content }, '');
  }
  answer();
  return builder;
}

const noResult = '(no result yet)';

const isComplete = ({ status, isDropped }: CallItem) => status === 'completed' && !isDropped;

const contentOf = ({ content }: MessageItem) =>
  content
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n');
