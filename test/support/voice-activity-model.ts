/**
 * A model in the shape of Silero's, made from nothing, which the real library runs: whatever is loud is speech. So tones, in
 * which Silero finds no speech, are the words of tests.
 */
import { Graph } from './onnx-writer.ts';

export function voiceActivityModel(): Buffer {
  const graph = new Graph();
  const loudness = graph.op('ReduceMean', [graph.op('Abs', ['input'])], { axes: [1], keepdims: 1 });
  const excess = graph.op('Sub', [loudness, graph.floats([0.05], [1, 1])]);
  graph.op('Sigmoid', [graph.op('Mul', [excess, graph.floats([400], [1, 1])])], {}, 'output');
  graph.op('Identity', ['state'], {}, 'stateN');
  return graph.model({
    inputs: [
      { name: 'input', type: 'float', dims: [1, 'samples'] },
      { name: 'state', type: 'float', dims: [2, 1, 128] },
      { name: 'sr', type: 'int64', dims: ['one'] },
    ],
    outputs: [
      { name: 'output', type: 'float', dims: [1, 1] },
      { name: 'stateN', type: 'float', dims: [2, 1, 128] },
    ],
    metadata: {},
  });
}
