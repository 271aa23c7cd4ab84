/** The tokens of a run for its budget: as the engine reports them, else an estimate of what was sent and delivered. */
import type { AgentEvent, ChatCall, ToolCall } from '../../engines/contract/index.ts';

/** Usual for English; what a provider reports always wins. */
const charactersPerToken = 4;

export class TokenMeter {
  /** Tokens of all steps that the engine has reported; undefined: of none. */
  #reported: number | undefined;
  /** Characters of steps that it has not reported. */
  #unreported = 0;
  /** Characters of the conversation, which the next step sends as its prompt. */
  #conversation: number;
  /** The prompt of a step without a sign of its provider. */
  #sent = 0;
  #isReported = false;

  constructor(messages: ChatCall['messages']) {
    this.#conversation = messages.reduce(
      (sum, { content, toolCalls }) => sum + content.length + lengthOf(toolCalls),
      0,
    );
  }

  /** `totalTokens` of the run so far. What the current step delivers later, such as its tool calls, is part of them. */
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
      case 'reasoning-delta': // is not sent again
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
        // The sum of what was reported before says nothing about a last step that was not.
        if (usage && usage.totalTokens !== this.#reported) return this.report(usage.totalTokens);
        return this.#deliver(lengthOf(toolCalls));
      }
    }
  }

  /** `isLeft`: the caller did not wait for the answer, so its provider may have read the prompt of a silent step. */
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
    return 0; // nested deeper than the stack
  }
}
