/** The tools that a chat may call, whoever brings them: read_aloud and the MCP servers. */
import type { Logger, Tool } from '../../engines/contract/index.ts';
import { mostTools } from './mcp/limits.ts';

/** What of a chat decides about its tools. */
export interface ChatFacts {
  /** The request, for the log. */
  readonly id: string;
  /** Null and absent mean the configured default, for both. */
  readonly voice_id?: string | null;
  readonly tts_model?: string | null;
  /**
   * Aborts when the run fails and when its caller leaves, never after it has completed: what a tool has begun belongs
   * to the run until then.
   */
  readonly signal: AbortSignal;
}

export interface ToolSource {
  /** The tools for this chat; none is a valid answer. Throws a `ProblemError` when the caller's wishes cannot be met. */
  toolsFor(chat: ChatFacts): Promise<readonly Tool[]>;
}

export interface Toolbox extends ToolSource, AsyncDisposable {}

/** The tools of all sources in their order, as many as fit: with more, providers refuse the whole chat. */
export function createToolbox(
  sources: readonly (ToolSource & Partial<AsyncDisposable>)[],
  log: Pick<Logger, 'warn'>,
): Toolbox {
  let hadTooMany = false;

  /** Once, until it is fixed. */
  function warnOfTooMany(tools: number): void {
    const message = `some tools are not offered: ${mostTools} fit in all, name those to offer in the servers' \`tools\``;
    const hasTooMany = tools > mostTools;
    if (hasTooMany && !hadTooMany) log.warn({ tools }, message);
    hadTooMany = hasTooMany;
  }

  return {
    async toolsFor(chat) {
      const tools = (await Promise.all(sources.map((source) => source.toolsFor(chat)))).flat();
      warnOfTooMany(tools.length);
      return tools.slice(0, mostTools);
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(sources.map(async (source) => source[Symbol.asyncDispose]?.()));
    },
  };
}
