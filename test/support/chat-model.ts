/**
 * A chat model made from nothing, which the real llama.cpp runs: llama architecture, one layer, byte-level BPE, a template
 * in the way of Qwen3 with tools and <think>. One attention head looks at the latest flag of the conversation, which
 * chooses what is said; a table of pairs of tokens spells it. A broken template or a lost message changes the answer.
 *
 * - a turn of the user: `answers.plain`
 * - " aloud" in it: a call of read_aloud with `answers.spoken`
 * - the result of a tool: `answers.told`
 * - " think" in it: `answers.thought` within <think>, then `answers.considered`
 * - " forever" in it: and so on and so on, without an end
 */
import { writeFile } from 'node:fs/promises';
import { ggufFile, halfTensor, plainTensor, type GgufTensor } from './gguf-writer.ts';

export const answers = {
  plain: 'This answer was made on this machine without a network.',
  told: 'I have read it to you.',
  considered: 'Here is my considered reply.',
  thought: 'Let me see what was asked first',
  spoken: 'yes no hello',
} as const;

const template = `{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- "# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\nYou are provided with function signatures within <tools></tools> XML tags:\\n<tools>" }}
{%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
{{- "\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
{%- if messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}
{%- endif %}
{%- for message in messages %}
{%- set content = message.content if message.content is string else '' %}
{%- if message.role == "user" or (message.role == "system" and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}
{%- elif message.role == "assistant" %}
{%- set reasoning_content = message.reasoning_content if message.reasoning_content is string else '' %}
{%- if '</think>' in content %}{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}
{{- '<|im_start|>assistant\\n' }}
{%- if loop.last and reasoning_content %}{{- '<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}{%- endif %}
{{- content }}
{%- if message.tool_calls %}
{%- for tool_call in message.tool_calls %}
{%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{%- endif %}
{%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
{{- '<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}
{%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == "tool" %}
{%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\\n<tool_response>\\n' + content + '\\n</tool_response>' }}
{%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}`;

const end = '<|im_end|>';
/** What an answer may follow. */
const starts = ['\n', '\n\n', 'assistant', '</think>', '<think>'];
const split = (text: string): string[] =>
  text
    .replace(/([a-z]) /g, '$1| ')
    .replace('.', '|.')
    .split('|');

interface State {
  /** Chains of tokens. */
  readonly says: readonly (readonly string[])[];
  /** Tokens that begin it. */
  readonly flags: readonly string[];
}

const states: readonly State[] = [
  { flags: ['user'], says: [[...split(answers.plain), end]] },
  { flags: ['</tool_response>'], says: [[...split(answers.told), end]] },
  {
    flags: ['think', ' think'],
    says: [
      ['<think>', '\nLet', ...split(answers.thought).slice(1, -1), ' first\n', '</think>'],
      ['\n\n', ...split(answers.considered), end],
      ['</think>', '\n\n'],
    ],
  },
  { flags: ['forever', ' forever'], says: [['and', ' so', ' on', ' and', ' so']] },
  {
    flags: ['aloud', ' aloud'],
    says: [
      [
        '<tool_call>',
        '\n{"name": "',
        'read_aloud',
        '", "arguments": ',
        '{"',
        'text',
        '": "',
        ...split(answers.spoken),
      ].concat(['"}', '}\n', '</tool_call>', end]),
    ],
  },
];

/** Of the tokenizer: 3 control, 4 user defined. */
const special: Readonly<Record<string, number>> = {
  ...{ '<|endoftext|>': 3, '<|im_start|>': 3, '<|im_end|>': 3, '<tool_call>': 4, '</tool_call>': 4 },
  ...{ '<tool_response>': 4, '</tool_response>': 4, '<think>': 4, '</think>': 4 },
};

/** GPT-2's printable stand-ins for bytes. */
const byteCharacters = (() => {
  let extra = 256;
  const isPrintable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : extra++));
})();
const toBpe = (text: string): string => Array.from(Buffer.from(text, 'utf8'), (byte) => byteCharacters[byte]).join('');

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly merges: readonly string[];
  readonly idOf: (text: string) => number;
  /** Tokens that matter. */
  readonly concepts: readonly string[];
}

function makeVocabulary(): Vocabulary {
  const [tokens, types, merges]: [string[], number[], string[]] = [[], [], []];
  const ids = new Map<string, number>();
  const add = (token: string, type = 1) => {
    if (ids.has(token)) return;
    ids.set(token, tokens.length);
    tokens.push(token);
    types.push(type);
  };
  /** Spelled from the left, so that every step is a merge. */
  const grow = (text: string) => {
    const characters = Array.from(toBpe(text));
    for (let length = 2; length <= characters.length; length += 1) {
      const [left, last] = [characters.slice(0, length - 1).join(''), characters[length - 1] ?? ''];
      if (ids.has(left + last)) continue;
      add(left + last);
      merges.push(`${left} ${last}`);
    }
  };
  for (const character of byteCharacters) add(character);
  for (const [text, type] of Object.entries(special)) add(text, type);
  const spoken = states.flatMap(({ says, flags }) => [...says.flat(), ...flags]);
  const syntax = [' "', '"', ' {', '{', ':', '":', 'arguments', 'name', 'system', 'params'];
  const words = [...new Set([...spoken, ...starts, ...syntax])].filter((text) => !(text in special));
  for (const text of words) if (text.startsWith(' ')) grow(text);
  for (const text of words) if (!text.startsWith(' ') && !/["\n]./.test(text)) grow(text);
  for (const text of words) add(toBpe(text)); // what is only generated needs no merges
  while (tokens.length % 32 > 0) add(`<|unused_${tokens.length}|>`, 5);
  const idOf = (text: string) => {
    const id = ids.get(text in special ? text : toBpe(text));
    if (id === undefined) throw new Error(`no token for ${JSON.stringify(text)}`);
    return id;
  };
  return { tokens, types, merges, idOf, concepts: [...new Set([...words, ...Object.keys(special)])] };
}

const [width, hidden] = [256, 32];
/** Always 1; any token that does not matter. */
const [one, other] = [width - 1, width - 2];

class Matrix {
  readonly data: Float32Array;
  readonly rows: number;
  readonly columns: number;

  constructor(rows: number, columns = width) {
    this.rows = rows;
    this.columns = columns;
    this.data = new Float32Array(rows * columns);
  }
  set(column: number, row: number, value: number): void {
    this.data[row * this.columns + column] = value;
  }
  tensor(name: string): GgufTensor {
    return halfTensor(name, [this.columns, this.rows], this.data);
  }
}

/** 1 MB; the same bytes each time. */
export function makeChatModel(context = 4_096): Buffer {
  const vocabulary = makeVocabulary();
  const { tokens, types, merges, idOf, concepts } = vocabulary;
  const dimension = new Map(concepts.map((text, index) => [idOf(text), index]));
  const stateDimension = (state: State) => concepts.length + states.indexOf(state);
  const embedding = new Matrix(tokens.length);
  for (let token = 0; token < tokens.length; token += 1) {
    embedding.set(dimension.get(token) ?? other, token, 1);
    embedding.set(one, token, 1);
  }
  const { query, key, value, frequencies } = makeAttention(vocabulary, dimension, stateDimension, context);
  const same = new Matrix(width);
  for (let index = 0; index < width; index += 1) same.set(index, index, 1);
  const ones = (name: string) => plainTensor(name, [width], new Float32Array(width).fill(1));
  const tensors = [
    ...[embedding.tensor('token_embd.weight'), ones('output_norm.weight')],
    makeOutput(vocabulary, dimension, stateDimension).tensor('output.weight'),
    ...[plainTensor('rope_freqs.weight', [width / 2], frequencies), ones('blk.0.attn_norm.weight')],
    ...[query.tensor('blk.0.attn_q.weight'), key.tensor('blk.0.attn_k.weight'), value.tensor('blk.0.attn_v.weight')],
    ...[same.tensor('blk.0.attn_output.weight'), ones('blk.0.ffn_norm.weight')],
    ...['gate', 'up'].map((name) => new Matrix(hidden).tensor(`blk.0.ffn_${name}.weight`)),
    new Matrix(width, hidden).tensor('blk.0.ffn_down.weight'),
  ];
  return ggufFile(
    {
      'general.architecture': 'llama',
      'general.name': 'Tiny Talker',
      'general.file_type': 1,
      'llama.context_length': context,
      'llama.embedding_length': width,
      'llama.block_count': 1,
      'llama.feed_forward_length': hidden,
      'llama.attention.head_count': 1,
      'llama.attention.head_count_kv': 1,
      'llama.attention.layer_norm_rms_epsilon': { float: 1e-6 },
      'llama.rope.dimension_count': width,
      'llama.rope.freq_base': { float: 10_000 },
      'llama.vocab_size': tokens.length,
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': 'qwen2',
      'tokenizer.ggml.tokens': tokens,
      'tokenizer.ggml.token_type': types,
      'tokenizer.ggml.merges': merges,
      'tokenizer.ggml.bos_token_id': idOf('<|endoftext|>'),
      'tokenizer.ggml.eos_token_id': idOf(end),
      'tokenizer.ggml.padding_token_id': idOf('<|endoftext|>'),
      'tokenizer.ggml.add_bos_token': false,
      'tokenizer.chat_template': template,
    },
    tensors,
  );
}

/**
 * RMS norm turns (1, 1) of `width` into `norm` each. Pair 0 does not turn with the position and says "this is a flag"; 32
 * pairs turn slowly, so that the later flag scores higher (32 slightly different speeds average the rounding of the cache).
 */
function makeAttention(
  { idOf }: Vocabulary,
  dimension: ReadonlyMap<number, number>,
  stateDimension: (state: State) => number,
  context: number,
) {
  const [query, key, value] = [new Matrix(width), new Matrix(width), new Matrix(width)];
  const [norm, scale, pairs] = [Math.sqrt(width / 2), Math.sqrt(width), 32];
  const speedOf = (pair: number) => (1.15 / context) * (1 + 0.01 * pair);
  const later = 4 * context * scale; // about 4 for each token of distance, after scaling
  const flag = Math.sqrt(1.4 * later) / norm;
  query.set(one, 0, flag);
  for (let pair = 1; pair <= pairs; pair += 1) query.set(one, 2 * pair + 1, Math.sqrt(later / pairs) / norm);
  for (const state of states) {
    for (const text of state.flags) {
      const column = dimension.get(idOf(text))!;
      key.set(column, 0, flag);
      for (let pair = 1; pair <= pairs; pair += 1) key.set(column, 2 * pair, Math.sqrt(later / pairs) / norm);
      value.set(column, stateDimension(state), 1 / norm);
    }
  }
  const frequencies = Float32Array.from({ length: width / 2 }, (_, index) => {
    const natural = 10_000 ** ((-2 * index) / width);
    return index === 0 || index > pairs ? 1e12 : natural / speedOf(index);
  });
  return { query, key, value, frequencies };
}

/** After the layer a position is token + one + state, each 1 before the norm: pairs of tokens, and a push from the state. */
function makeOutput(
  { tokens, idOf }: Vocabulary,
  dimension: ReadonlyMap<number, number>,
  stateDimension: (state: State) => number,
): Matrix {
  const output = new Matrix(tokens.length);
  const norm = Math.sqrt(width / 3);
  const [pair, push] = [40 / norm, 20 / norm];
  for (const state of states) {
    const seen = new Set<string>();
    const follow = (before: string, after: string) => {
      seen.add(before);
      output.set(dimension.get(idOf(before))!, idOf(after), pair);
    };
    for (const chain of state.says) {
      chain.forEach((text, index) => {
        if (index > 0) follow(chain[index - 1]!, text);
        output.set(stateDimension(state), idOf(text), push);
      });
    }
    for (const start of starts) if (!seen.has(start)) follow(start, state.says[0]![0]!);
  }
  // Within a prefix of a tool call that the host writes, the spelling continues in the same order.
  const syntax = [
    ['"', 'read_aloud'],
    [' "', 'read_aloud'],
    ['{', '"'],
    ['":', ' "'],
    ['text', '": "'],
  ] as const;
  for (const [before, after] of syntax) output.set(dimension.get(idOf(before))!, idOf(after), pair / 2);
  return output;
}

export async function writeChatModel(path: string, context?: number): Promise<string> {
  await writeFile(path, makeChatModel(context));
  return path;
}
