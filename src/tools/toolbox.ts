/** The tools of a chat from all sources: read_aloud and the MCP servers. */
import type { Logger, Tool } from '../../engines/contract/index.ts';
import { mayUseTool } from '../keys/permissions.ts';
import { hasTracer, traced } from '../trace.ts';
import { maxTools } from './mcp/bounds.ts';

/** Tool options of a request. */
export interface ToolOptions {
  /** The voice of read_aloud. If it is null or absent, the default from the settings is used. */
  readonly voice_id?: string | null;
  /** The speech model of read_aloud. If it is null or absent, the default model is used. */
  readonly tts_model?: string | null;
  /** Whether read_aloud may be offered; false if clients never see its clips. Default: true. */
  readonly readAloud?: boolean;
}

/** The chat for which tools are requested. */
export interface ChatFacts extends ToolOptions {
  /** The request id, for the log. */
  readonly id: string;
  /**
   * Aborts when the run fails or the client disconnects, but not after the run has completed. Until then, work started
   * by a tool belongs to the run.
   */
  readonly signal: AbortSignal;
}

export interface ToolSource {
  /** Resolves with the tools for this chat; may be empty. Rejects with a `ProblemError` for invalid speech options. */
  toolsFor(chat: ChatFacts): Promise<readonly Tool[]>;
}

export interface Toolbox extends ToolSource, AsyncDisposable {}

/**
 * Combines the tools of all sources that the API key may use, up to the limit above which providers reject the chat.
 */
export function createToolbox(
  sources: readonly (ToolSource & Partial<AsyncDisposable>)[],
  log: Pick<Logger, 'warn'>,
): Toolbox {
  let hadTooMany = false;

  /** Logs the warning once, and again only after the number has been within the limit. */
  function warnOfTooMany(tools: number): void {
    const message = `too many tools, only the first ${maxTools} are offered; select tools with \`tools\` in the settings of the servers`;
    const hasTooMany = tools > maxTools;
    if (hasTooMany && !hadTooMany) log.warn({ tools }, message);
    hadTooMany = hasTooMany;
  }

  return {
    async toolsFor(chat) {
      const all = (await Promise.all(sources.map((source) => source.toolsFor(chat)))).flat();
      const tools = all.filter(({ name }) => mayUseTool(name));
      warnOfTooMany(tools.length);
      const offered = tools.slice(0, maxTools);
      return hasTracer() ? offered.map(withSpan) : offered;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(sources.map(async (source) => source[Symbol.asyncDispose]?.()));
    },
  };
}

/** Wraps a tool so that its calls become spans. */
function withSpan(tool: Tool): Tool {
  const { name } = tool;
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
  return { ...tool, run: (...call) => traced(`execute_tool ${name}`, attributes, () => tool.run(...call)) };
}
