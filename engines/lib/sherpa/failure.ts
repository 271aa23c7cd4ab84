/** How models fail inside sherpa-onnx. */
import type { Availability } from '../../contract/index.ts';

/**
 * Matches what sherpa-onnx prints instead of throwing: some recognizers catch the exceptions of ONNX Runtime, print them,
 * and return an empty text, which looks like silence.
 */
export const printedFailure = /Caught exception:\s+[^\n]+\n/;

/** The availability of a model that its program could not load, although its files look right. */
export function notLoadable(file: string): Availability {
  const reason = `${file} could not be loaded: its files are damaged, or do not belong together.`;
  return { available: false, code: 'model-file-missing', reason };
}
