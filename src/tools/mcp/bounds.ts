/** Limits for what MCP servers send: they are third-party programs. */

/** Maximum size of a message, in bytes. */
export const largestMessage = 8 * 1024 * 1024;

/** Maximum number of tools and pages read from a tool list. */
export const longestList = 10_000;
export const mostPages = 100;

/** Maximum number of tools offered, per server and in total: OpenAI accepts 128 per request. */
export const mostTools = 128;

/** Maximum length of a tool description: OpenAI accepts 1024 characters. */
export const longestDescription = 1024;

/** Maximum length of the JSON Schema of a tool's arguments, in characters. */
export const largestSchema = 32_768;

/** Maximum length of a result or an error passed to the model, in characters. */
export const longestOutput = 32_000;
