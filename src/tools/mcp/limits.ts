/** What of a server is taken at most: it is somebody else's program. */

/** Bytes of one message. */
export const largestMessage = 8 * 1024 * 1024;

/** Of its list: tools that are looked at, and pages that they come on. */
export const longestList = 10_000;
export const mostPages = 100;

/** Tools that are offered, of one server and of all together: OpenAI takes 128 in a request. */
export const mostTools = 128;

/** Characters of a tool's description: OpenAI takes 1024. */
export const longestDescription = 1024;

/** Characters of the JSON Schema of a tool's arguments. */
export const largestSchema = 32_768;

/** Characters of a result, and of an error, that the model reads. */
export const longestOutput = 32_000;
