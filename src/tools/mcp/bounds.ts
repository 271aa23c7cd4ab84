/** Limits on the data that MCP servers send, because they are third-party programs. */

/** Maximum size of a message, in bytes. */
export const maxMessageBytes = 8 * 1024 * 1024;

/** Rate limit for messages and output lines per server. The excess stays in the server's pipe. */
export const messageRate = { perSecond: 1_000, burst: 100 };

/** Maximum number of tools, and of pages, read from a tool list. */
export const maxListLength = 10_000;
export const maxPages = 100;

/** Maximum number of tools offered, per server and in total, because OpenAI accepts 128 per request. */
export const maxTools = 128;

/** Maximum length of a tool description, because OpenAI accepts 1024 characters. */
export const maxDescriptionLength = 1024;

/** Maximum length of the JSON Schema of a tool's arguments, in characters. */
export const maxSchemaLength = 32_768;

/** Maximum length of a result or an error passed to the model, in characters. */
export const maxOutputLength = 32_000;
