/**
 * Maximum length of a text in UTF-16 code units: of a delta, the content or the reasoning of a result, the output of a
 * tool, the text of a transcript, and all segments, all words or all turns of a transcript together. A longer text
 * fails the call with `engine-failed`: the service handles a text in one piece, and a text of 256 MB would block all
 * other requests for seconds.
 */
export const maxTextLength = 16_777_216;
