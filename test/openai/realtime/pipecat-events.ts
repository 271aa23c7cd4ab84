/**
 * The events that pipecat reads, with the fields that its models require: src/pipecat/services/openai/realtime/events.py
 * of pipecat-ai/pipecat at acead05. It ends its session at an event that it does not know or cannot read.
 */
import { z } from 'zod';
import type { WireEvent } from '../../support/realtime-laws.ts';

/** `None`, and left out, unless the model says otherwise. */
const text = z.string().nullish();

const format = z.union([
  z.object({ type: z.literal('audio/pcm'), rate: z.literal(24_000) }),
  z.object({ type: z.enum(['audio/pcmu', 'audio/pcma']) }),
]);

const audio = z.object({
  input: z
    .object({
      format: format.nullish(),
      // It has a constructor of its own, which takes nothing else.
      transcription: z.strictObject({ model: z.string(), language: text, prompt: text }).nullish(),
      noise_reduction: z.object({ type: z.enum(['near_field', 'far_field']) }).nullish(),
      turn_detection: z.object({ type: z.enum(['server_vad', 'semantic_vad']) }).nullish(),
    })
    .nullish(),
  output: z.object({ format: format.nullish(), voice: text, speed: z.number().nullish() }).nullish(),
});

const modalities = z.array(z.enum(['text', 'audio'])).nullish();
const maxTokens = z.union([z.int(), z.literal('inf')]).nullish();

const session = z.object({
  type: z.literal('realtime').nullish(),
  object: z.literal('realtime.session').nullish(),
  ...{ id: text, model: text, instructions: text, audio: audio.nullish(), output_modalities: modalities },
  tools: z.array(z.record(z.string(), z.unknown())).nullish(),
  tool_choice: z.enum(['auto', 'none', 'required']).nullish(),
  max_output_tokens: maxTokens,
  tracing: z.union([z.literal('auto'), z.looseObject({})]).nullish(),
  prompt: z.looseObject({}).nullish(),
  expires_at: z.int().nullish(),
  include: z.array(z.string()).nullish(),
  reasoning: z.object({ effort: text }).nullish(),
});

const content = z.object({
  type: z.enum(['text', 'audio', 'input_text', 'input_audio', 'input_image', 'output_text', 'output_audio']),
  ...{ text, audio: text, transcript: text },
});

const item = z.object({
  id: z.string(),
  object: z.literal('realtime.item').nullish(),
  type: z.enum(['message', 'function_call', 'function_call_output']),
  status: z.enum(['completed', 'in_progress', 'incomplete']).nullish(),
  role: z.enum(['user', 'assistant', 'system']).nullish(),
  content: z.array(content).nullish(),
  ...{ call_id: text, name: text, arguments: text, output: text },
});

const error = z.object({ type: z.string(), code: text, message: z.string(), param: text, event_id: text });

const count = z.int().nullish();
const tokens = z.object({
  ...{ cached_tokens: count, text_tokens: count, audio_tokens: count },
  cached_tokens_details: z.object({ text_tokens: count, audio_tokens: count }).nullish(),
});

const usage = z.object({
  ...{ total_tokens: z.int(), input_tokens: z.int(), output_tokens: z.int() },
  ...{ input_token_details: tokens, output_token_details: tokens },
});

const response = z.object({
  id: z.string(),
  object: z.literal('realtime.response'),
  status: z.enum(['completed', 'in_progress', 'incomplete', 'cancelled', 'failed']),
  status_details: z.unknown(),
  output: z.array(item),
  ...{ output_modalities: modalities, max_output_tokens: maxTokens, audio: audio.nullish(), usage: usage.nullish() },
});

/** llm.py reads these without a check. */
const done = z.intersection(
  response.extend({ usage }),
  z.union([
    z.object({ status: z.literal('failed'), status_details: z.object({ error: z.object({ message: z.string() }) }) }),
    z.object({ status: z.enum(['completed', 'incomplete', 'cancelled']) }),
  ]),
);

const placed = { item_id: z.string(), content_index: z.int() };
const output = { response_id: z.string(), output_index: z.int() };
const part = { ...output, ...placed };
const call = { ...output, item_id: z.string(), call_id: z.string() };
const added = { previous_item_id: text, item };
const transcription = 'conversation.item.input_audio_transcription';

const events: Readonly<Record<string, z.ZodRawShape>> = {
  error: { error },
  'session.created': { session },
  'session.updated': { session },
  'conversation.created': { conversation: z.object({ id: z.string(), object: z.literal('realtime.conversation') }) },
  'input_audio_buffer.committed': { previous_item_id: text, item_id: z.string() },
  'input_audio_buffer.cleared': {},
  'input_audio_buffer.speech_started': { audio_start_ms: z.int(), item_id: z.string() },
  'input_audio_buffer.speech_stopped': { audio_end_ms: z.int(), item_id: z.string() },
  'conversation.item.added': added,
  'conversation.item.done': added,
  [`${transcription}.delta`]: { ...placed, delta: z.string() },
  [`${transcription}.completed`]: { ...placed, transcript: z.string() },
  [`${transcription}.failed`]: { ...placed, error },
  'conversation.item.truncated': { ...placed, audio_end_ms: z.int() },
  'conversation.item.deleted': { item_id: z.string() },
  'conversation.item.retrieved': { item },
  'response.created': { response },
  'response.done': { response: done },
  'response.output_item.added': { ...output, item },
  'response.output_item.done': { ...output, item },
  'response.content_part.added': { ...part, part: content },
  'response.content_part.done': { ...part, part: content },
  'response.output_text.delta': { ...part, delta: z.string() },
  'response.output_text.done': { ...part, text: z.string() },
  'response.output_audio_transcript.delta': { ...part, delta: z.string() },
  'response.output_audio_transcript.done': { ...part, transcript: z.string() },
  'response.output_audio.delta': { ...part, delta: z.string() },
  'response.output_audio.done': part,
  'response.function_call_arguments.delta': { ...call, delta: z.string() },
  'response.function_call_arguments.done': { ...call, arguments: z.string() },
  'rate_limits.updated': { rate_limits: z.array(z.looseObject({})) },
};

/** Errors that pipecat survives. */
const harmless = [
  'response_cancel_not_active',
  'conversation_already_has_active_response',
  'item_retrieve_invalid_item_id',
];

/** Returns why pipecat would end at these events. */
export function endsOfPipecat(received: readonly WireEvent[]): string[] {
  return received.flatMap((event) => {
    const shape = events[event.type];
    if (!shape) return [`${event.type}: unknown`];
    const isFatal = event.type === 'error' && !harmless.includes(event.error?.code ?? '');
    if (isFatal) return [JSON.stringify(event.error)];
    const read = z.object({ event_id: z.string(), ...shape }).safeParse(event);
    return read.success ? [] : [`${event.type}: ${z.prettifyError(read.error)}`];
  });
}
