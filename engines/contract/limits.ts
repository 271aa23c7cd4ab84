/**
 * UTF-16 code units that one text may have: a delta, the content or the reasoning of a result, the output of a tool, the
 * text of a transcript, all segments or all words of one. A longer one fails the call with `engine-failed`: the service
 * handles a text in one piece, and a text of 256 MB would stop all other requests for seconds.
 */
export const longestText = 16_777_216;
