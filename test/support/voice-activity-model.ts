/**
 * A model in the shape of Silero's, made from nothing, which the real library runs: whatever is loud is speech. So tones, in
 * which Silero finds no speech, are the words of tests.
 */
import { Graph, port } from './onnx-writer.ts';

export function voiceActivityModel(): Buffer {
  const graph = new Graph();
  const loudness = graph.op('ReduceMean', [graph.op('Abs', ['input'])], { axes: [1], keepdims: 1 });
  const excess = graph.op('Sub', [loudness, graph.floats([0.05], [1, 1])]);
  graph.op('Sigmoid', [graph.op('Mul', [excess, graph.floats([400], [1, 1])])], {}, 'output');
  graph.op('Identity', ['state'], {}, 'stateN');
  return graph.model({
    inputs: [port('input', 'float', 1, 'samples'), port('state', 'float', 2, 1, 128), port('sr', 'int64', 'one')],
    outputs: [port('output', 'float', 1, 1), port('stateN', 'float', 2, 1, 128)],
    metadata: {},
  });
}
