/** A chat model with noise for weights in the shape of Qwen3 0.6B, as Q8_0: what it costs is true, what it says is noise. */
import { writeFile } from 'node:fs/promises';
import { ggufFile, plainTensor, type GgufTensor } from '../../test/support/gguf-writer.ts';
import { noise } from '../../test/support/noise.ts';

const shape = {
  layers: 28,
  width: 1_024,
  hidden: 3_072,
  heads: 16,
  keyHeads: 8,
  headSize: 128,
  vocabulary: 151_936,
} as const;

/** 32 weights: a scale in 16 bits, and 8 bits each. */
const [blockWeights, blockBytes] = [32, 34];
const scale = 0x0c00; // 2 ** -12

function randomTensor(name: string, columns: number, rows: number): GgufTensor {
  const data = Buffer.alloc((columns * rows * blockBytes) / blockWeights, noise(1_000_003));
  for (let at = 0; at < data.length; at += blockBytes) data.writeUInt16LE(scale, at);
  return { name, dimensions: [columns, rows], type: 8, data };
}

const ones = (name: string, length: number) => plainTensor(name, [length], new Float32Array(length).fill(1));

/** 640 MB; the same bytes each time. */
export async function writeLargeChatModel(path: string): Promise<string> {
  const { layers, width, hidden, heads, keyHeads, headSize, vocabulary } = shape;
  const tensors: GgufTensor[] = [
    randomTensor('token_embd.weight', width, vocabulary),
    ones('output_norm.weight', width),
  ];
  for (let layer = 0; layer < layers; layer += 1) {
    const name = (part: string) => `blk.${layer}.${part}.weight`;
    tensors.push(
      ...[ones(name('attn_norm'), width), ones(name('ffn_norm'), width)],
      ...[ones(name('attn_q_norm'), headSize), ones(name('attn_k_norm'), headSize)],
      randomTensor(name('attn_q'), width, heads * headSize),
      ...['attn_k', 'attn_v'].map((part) => randomTensor(name(part), width, keyHeads * headSize)),
      randomTensor(name('attn_output'), heads * headSize, width),
      ...['ffn_gate', 'ffn_up'].map((part) => randomTensor(name(part), width, hidden)),
      randomTensor(name('ffn_down'), hidden, width),
    );
  }
  const bytes = Array.from({ length: 256 }, (_, byte) => byteCharacter(byte));
  const control = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
  const unused = Array.from({ length: vocabulary - bytes.length - control.length }, (_, index) => `unused${index}`);
  const qwen = {
    ...{ context_length: 40_960, embedding_length: width, block_count: layers, feed_forward_length: hidden },
    ...{ 'attention.head_count': heads, 'attention.head_count_kv': keyHeads },
    ...{ 'attention.key_length': headSize, 'attention.value_length': headSize },
    ...{ 'attention.layer_norm_rms_epsilon': { float: 1e-6 }, 'rope.freq_base': { float: 1e6 } },
  };
  const metadata = {
    'general.architecture': 'qwen3',
    'general.file_type': 7,
    ...Object.fromEntries(Object.entries(qwen).map(([key, value]) => [`qwen3.${key}`, value])),
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'qwen2',
    'tokenizer.ggml.tokens': [...bytes, ...control, ...unused],
    'tokenizer.ggml.token_type': [...bytes.map(() => 1), ...control.map(() => 3), ...unused.map(() => 5)],
    'tokenizer.ggml.merges': [`${byteCharacter(0)} ${byteCharacter(1)}`],
    'tokenizer.ggml.eos_token_id': bytes.length + 2,
    'tokenizer.ggml.bos_token_id': bytes.length,
    'tokenizer.ggml.add_bos_token': false,
  };
  await writeFile(path, ggufFile(metadata, tensors));
  return path;
}

/** GPT-2's printable stand-ins for bytes: any order does for noise. */
function byteCharacter(byte: number): string {
  return String.fromCharCode(byte > 32 && byte < 127 ? byte : 256 + byte);
}
