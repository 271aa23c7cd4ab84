/**
 * How the service treats the fields of requests under /v1. Fields of the contract that are missing from this table are
 * used by every model; unknown fields have no effect. The handlers take their lists from this table, and
 * docs/reference/openai-api.md is generated from it.
 */
import type { Feature } from '../../engines/contract/index.ts';
import { parameters } from '../transcription/parameters.ts';

/** Ignored fields are listed in X-Parlance-Ignored; refused fields cause `parameter-not-supported`. */
export type FieldStatus = 'used' | 'ignored' | 'refused' | `${'ignored' | 'refused'} without ${Feature}`;

/** The status, optionally with a note, such as the values to which the status applies. */
export type FieldRow = FieldStatus | readonly [FieldStatus, string];

/** Rows for the parameters that have their own field. */
const parameterRows: Readonly<Record<string, FieldRow>> = Object.fromEntries(
  parameters.flatMap(
    ([
      ,
      {
        features: [feature],
        openai,
      },
    ]) => {
      if (!feature || !openai) return [];
      const status = `${openai.isRefused ? 'refused' : 'ignored'} without ${feature}` as const;
      const row = openai.note === undefined ? status : ([status, openai.note] as const);
      return [openai.field, openai.alias ?? []].flat().map((name) => [name, row]);
    },
  ),
);

const recording = {
  ...parameterRows,
  chunking_strategy: 'ignored',
  vad_filter: 'ignored',
  without_timestamps: 'ignored',
  include: 'refused',
  diarize: ['refused', 'Values other than false.'],
} as const;

/** Fields that OpenAI uses for its accounts and caches. */
const accountFields = {
  user: 'ignored',
  safety_identifier: 'ignored',
  service_tier: 'ignored',
  prompt_cache_key: 'ignored',
  prompt_cache_retention: 'ignored',
} as const;

export const fieldTable = {
  createTranscription: {
    ...recording,
    response_format: ['refused without segment', '`srt` and `vtt`. `diarized_json` needs `diarize`.'],
    timestamp_granularities: ['refused without word', '`word`.'],
    max_line_width: 'refused without word',
    max_line_count: 'refused without word',
  },
  createTranslation: {
    ...recording,
    model: 'refused without translate',
    response_format: ['refused without segment', '`srt` and `vtt`.'],
    language: 'refused',
    stream: 'refused',
    timestamp_granularities: 'refused',
    max_line_width: 'refused',
    max_line_count: 'refused',
    known_speaker_names: 'refused',
    known_speaker_references: 'refused',
  },
  createSpeech: {
    speed: ['refused without speed', 'Values other than 1.'],
    instructions: 'ignored without instructions',
  },
  createChatCompletion: {
    tools: 'refused without tools',
    stop: 'refused without json',
    response_format: ['refused without json', 'Values other than `text`.'],
    seed: 'ignored without json',
    frequency_penalty: 'ignored without json',
    presence_penalty: 'ignored without json',
    logit_bias: 'ignored without json',
    reasoning_effort: 'ignored without json',
    parallel_tool_calls: 'ignored without json',
    n: ['refused', 'Values other than 1.'],
    logprobs: ['refused', 'Values other than false.'],
    top_logprobs: ['refused', 'Values other than 0.'],
    modalities: ['refused', 'Values other than `text`.'],
    audio: 'refused',
    web_search_options: 'refused',
    prediction: 'refused',
    functions: ['refused', 'Send `tools`.'],
    function_call: ['refused', 'Send `tool_choice`.'],
    ...accountFields,
    metadata: 'ignored',
    store: 'ignored',
    verbosity: 'ignored',
  },
  createResponse: {
    tools: ['refused without tools', 'Tools other than functions are ignored.'],
    'text.format': ['refused without json', 'Values other than `text`.'],
    'reasoning.effort': 'ignored without json',
    parallel_tool_calls: 'ignored without json',
    'text.verbosity': 'ignored',
    store: ['ignored', 'The value true.'],
    truncation: ['ignored', 'The value `auto`.'],
    ...accountFields,
    client_metadata: 'ignored',
    stream_options: 'ignored',
    include: ['refused', 'Values other than `reasoning.encrypted_content`.'],
    previous_response_id: ['refused', 'Send the whole conversation as `input`.'],
    conversation: ['refused', 'Send the whole conversation as `input`.'],
    prompt: 'refused',
    background: ['refused', 'The value true.'],
    top_logprobs: ['refused', 'Values other than 0.'],
    max_tool_calls: 'refused',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, FieldRow>>>>;

type Table = typeof fieldTable;
type NamesWith<Op extends keyof Table, Row> = {
  [Name in keyof Table[Op]]: Table[Op][Name] extends Row ? Name : never;
}[keyof Table[Op]];

/** Returns the names of the fields of an operation that have this status for every model and value. */
export function fieldsWith<Op extends keyof Table, S extends FieldStatus>(
  operation: Op,
  status: S,
): readonly (NamesWith<Op, S> & string)[] {
  const rows = Object.entries<FieldRow>(fieldTable[operation]);
  return rows.flatMap(([name, row]) => (row === status ? [name as NamesWith<Op, S> & string] : []));
}
