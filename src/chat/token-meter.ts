/**
 * Counts the tokens of a run for its budget: the number that the engine reports, or an estimate from the text sent and
 * received.
 */
import type { AgentEvent, ChatCall, ToolCall } from '../../engines/contract/index.ts';

/** Typical for English. Used only if the provider reports no token counts. */
const charactersPerToken = 4;

export class TokenMeter {
  /** Total tokens that the engine has reported; undefined if it has reported none. */
  #reported: number | undefined;
  /** Characters of steps whose tokens the engine has not reported. */
  #unreported = 0;
  /** Characters of the conversation, which the next step sends as its prompt. */
  #conversation: number;
  /** Characters of the current step's prompt until its provider begins to answer. */
  #sent = 0;
  #isReported = false;

  constructor(messages: ChatCall['messages']) {
    this.#conversation = messages.reduce(
      (sum, { content, toolCalls }) => sum + content.length + lengthOf(toolCalls),
      0,
    );
  }

  /** Sets the total of the run so far, which includes the later output of the current step, such as its tool calls. */
  report(totalTokens: number): void {
    this.#reported = totalTokens;
    this.#unreported = 0;
    this.#sent = 0;
    this.#isReported = true;
  }

  see(event: AgentEvent): void {
    switch (event.type) {
      case 'step-started':
        this.#sent = this.#conversation;
        this.#isReported = false;
        return;
      case 'reasoning-delta': // not part of the next prompt
        return this.#deliver(event.delta.length);
      case 'content-delta':
        this.#conversation += event.delta.length;
        return this.#deliver(event.delta.length);
      case 'tool-started': {
        const characters = serializedLength(event.arguments);
        this.#conversation += characters;
        return this.#deliver(characters);
      }
      case 'tool-finished':
        this.#conversation += (event.output ?? event.error ?? '').length;
        return;
      case 'completed': {
        const { usage, toolCalls } = event.result;
        // A total equal to the previously reported one does not include the last step.
        if (usage && usage.totalTokens !== this.#reported) return this.report(usage.totalTokens);
        return this.#deliver(lengthOf(toolCalls));
      }
    }
  }

  /**
   * `isLeft`: the caller disconnected early, so the prompt of the unanswered step counts, because the provider may have
   * processed it.
   */
  tokens(isLeft: boolean): number {
    return (this.#reported ?? 0) + Math.ceil((this.#unreported + (isLeft ? this.#sent : 0)) / charactersPerToken);
  }

  #deliver(characters: number): void {
    if (this.#isReported) return;
    this.#unreported += this.#sent + characters;
    this.#sent = 0;
  }
}

function lengthOf(calls: readonly ToolCall[] = []): number {
  return calls.reduce((sum, call) => sum + call.arguments.length, 0);
}

function serializedLength(args: object): number {
  try {
    return JSON.stringify(args).length;
  } catch {
    return 0; // nested too deeply for the call stack
  }
}
