/** Builds the messages of a conversation from its items: texts, tool calls and their outputs. */
import type { Message, ToolCall } from '../../engines/contract/index.ts';
import { shorten } from '../../lib/text.ts';
import { invalid } from '../contract/problems.ts';
import { imageField } from './content-parts.ts';

export type ConversationBuilder = ReturnType<typeof createConversation>;

interface OpenCall {
  readonly id: string;
  /** JSON Pointer of the call's item. */
  readonly at: string;
}

/**
 * Joins each call to the preceding assistant message. Every call must have exactly one output before the next message.
 * Ids may repeat.
 */
export function createConversation() {
  const messages: Message[] = [];
  let toolField: string | undefined;
  let image: string | undefined;
  /** Calls without an output. */
  const open: OpenCall[] = [];
  /** The calls of the last message to which a call was joined: a copy for each call would block others for long. */
  let joined: ToolCall[] = [];

  function end(): void {
    const [unanswered] = open;
    if (!unanswered) return;
    const rule = `"${shorten(unanswered.id, 100)}" must be answered by one function_call_output before the next message`;
    throw invalid('body', `${unanswered.at}/call_id`, rule);
  }

  /**
   * Removes and returns the last message if it is the assistant's, otherwise returns a new one, so that calls can be
   * joined to it.
   */
  function takeAssistantMessage(): Message {
    const last = messages.at(-1);
    if (last?.role !== 'assistant') {
      end();
      return { role: 'assistant', content: '' };
    }
    messages.pop();
    return last;
  }

  return {
    messages,
    get toolField() {
      return toolField;
    },
    get imageField() {
      return image;
    },
    end,
    say(message: Message, at: string): void {
      image ??= imageField(message, `${at}/content`);
      if (message.role !== 'assistant' || open.length === 0) {
        end();
        messages.push(message);
        return;
      }
      // Some models write text after their calls, which belongs to the same message.
      const last = takeAssistantMessage();
      const texts = [last.content, message.content].filter((text) => text !== '');
      messages.push({ ...last, content: texts.join('\n\n') });
    },
    call(call: ToolCall, at: string): void {
      toolField ??= at;
      const last = takeAssistantMessage();
      if (last.toolCalls !== joined) joined = [...(last.toolCalls ?? [])];
      joined.push(call);
      messages.push({ ...last, toolCalls: joined });
      open.push({ id: call.id, at });
    },
    output(toolCallId: string, content: string, at: string): void {
      const index = open.findIndex(({ id }) => id === toolCallId);
      if (index < 0) {
        const rule = `"${shorten(toolCallId, 100)}" is not the id of an unanswered function_call before it`;
        throw invalid('body', `${at}/call_id`, rule);
      }
      open.splice(index, 1);
      messages.push({ role: 'tool', content, toolCallId });
    },
  };
}
