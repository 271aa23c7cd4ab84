/**
 * Matches what sherpa-onnx prints instead of throwing: some recognizers catch the exceptions of ONNX Runtime, print them,
 * and return an empty text, which looks like silence.
 */
export const printedFailure = /Caught exception:\s+[^\n]+\n/;
