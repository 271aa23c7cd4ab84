/** How the model answers: the settings that a conversation and a single response have in common. */
import type { CallerTool, ChatCall } from '../../../engines/contract/index.ts';
import { invalid } from '../../contract/problems.ts';
import { requireSupport, supports } from '../../engine-host/models/model-selection.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import { resolveVoice } from '../aliases.ts';
import { toFunction } from '../chat-tools.ts';
import { unsupportedParameter, UnsupportedValue } from '../errors.ts';
import type { Schemas } from '../operations.ts';
import { pick, toFormat, type Format } from './input-config.ts';

export interface AnswerSettings {
  readonly modality: Schemas['RealtimeModality'];
  /** Undefined: the default. */
  readonly instructions: string | undefined;
  readonly tools: readonly CallerTool[];
  readonly toolChoice: NonNullable<ChatCall['toolChoice']>;
  readonly maxTokens: Schemas['RealtimeMaxTokens'];
  readonly isParallel: boolean | undefined;
  readonly effort: string | undefined;
  readonly format: Format;
  /** As the client named it; undefined: the default. */
  readonly voice: string | undefined;
  readonly speed: number;
}

/** The models that answer. `speech` is undefined if answers cannot be spoken. */
export interface AnswerModels {
  readonly chat: ServedModel<'chat'>;
  readonly speech: ServedModel<'speech'> | undefined;
}

type Update = Omit<Schemas['RealtimeResponseCreate'], 'conversation' | 'input' | 'metadata'>;

export const defaultInstructions =
  'You are speaking with the user. Answer in one to three short sentences, in the language of the user, without lists, code or Markdown.';

export const defaultSettings: Omit<AnswerSettings, 'modality'> = {
  instructions: undefined,
  tools: [],
  toolChoice: 'auto',
  maxTokens: 'inf',
  isParallel: undefined,
  effort: undefined,
  format: { type: 'audio/pcm', rate: 24_000 },
  voice: undefined,
  speed: 1,
};

/** Only the fields that are present change; null resets one. Throws for fields that the models do not support. */
export function updateSettings(
  current: AnswerSettings,
  sent: Update,
  { chat, speech }: AnswerModels,
  at: '/session' | '/response',
): AnswerSettings {
  const { instructions, tools: sentTools, parallel_tool_calls: parallel, reasoning, max_output_tokens: most } = sent;
  if (sent.prompt != null) throw unsupportedParameter(`${at}/prompt`);
  const tools = sentTools === undefined ? current.tools : readTools(sentTools ?? [], `${at}/tools`);
  if (sentTools != null && tools.length > 0) requireSupport(chat, 'tools', `${at}/tools`);
  if (sentTools != null || instructions != null) requireLength(instructions ?? '', tools, at);
  if (typeof most === 'number' && most < 1) throw invalid('body', `${at}/max_output_tokens`, 'must be at least 1');
  return {
    modality: readModality(sent.output_modalities, current, speech, `${at}/output_modalities`),
    instructions: pick(instructions, current.instructions, undefined),
    tools,
    toolChoice: readChoice(sent.tool_choice, current.toolChoice, tools, `${at}/tool_choice`),
    maxTokens: pick(most, current.maxTokens, 'inf'),
    isParallel: pick(parallel, current.isParallel, undefined),
    effort: reasoning === undefined ? current.effort : (reasoning?.effort ?? undefined),
    ...updateOutput(current, sent.audio?.output ?? {}, speech, `${at}/audio/output`),
  };
}

/** Because every update is answered with the whole session. */
const maxSettings = 200_000;

function requireLength(instructions: string, tools: readonly CallerTool[], at: string): void {
  if (instructions.length + JSON.stringify(tools).length <= maxSettings) return;
  throw invalid('body', at, `must not have more than ${String(maxSettings)} characters of instructions and tools`);
}

function readModality(
  sent: Update['output_modalities'],
  { modality }: AnswerSettings,
  speech: AnswerModels['speech'],
  at: string,
): AnswerSettings['modality'] {
  if (sent === undefined) return modality;
  const [first = speech ? 'audio' : 'text', ...others] = sent ?? [];
  if (others.length > 0) throw invalid('body', at, 'must be ["audio"] or ["text"]');
  if (first === 'audio' && !speech) throw new UnsupportedValue(at, 'must be ["text"]: no voice is available here');
  return first;
}

function readTools(sent: readonly Schemas['RealtimeToolUpdate'][], at: string): CallerTool[] {
  return sent.map((tool, index) => {
    const field = `${at}/${String(index)}`;
    if (tool.type === 'function') return toFunction(tool, field);
    throw new UnsupportedValue(`${field}/type`, `is "${tool.type}"; only function is supported`);
  });
}

/** LiveKit sends the bare name of a function. */
function readChoice(
  sent: Update['tool_choice'],
  current: AnswerSettings['toolChoice'],
  tools: readonly CallerTool[],
  at: string,
): AnswerSettings['toolChoice'] {
  const isTool = (name: string) => tools.some((tool) => tool.name === name);
  if (sent === undefined) return typeof current === 'string' || isTool(current.name) ? current : 'auto';
  if (sent === null || sent === 'auto') return 'auto';
  if (sent === 'none' || sent === 'required') return sent;
  if (typeof sent !== 'string' && sent.type !== 'function') {
    throw new UnsupportedValue(`${at}/type`, `is "${sent.type}"; only function is supported`);
  }
  const name = typeof sent === 'string' ? sent : sent.name;
  if (name != null && isTool(name)) return { name };
  throw invalid('body', at, 'must be auto, none, required, or the name of one of the tools');
}

function updateOutput(
  current: AnswerSettings,
  { format: sent, voice: named, speed }: Schemas['RealtimeOutputUpdate'],
  speech: AnswerModels['speech'],
  at: string,
): Pick<AnswerSettings, 'format' | 'voice' | 'speed'> {
  const format = sent ? toFormat(sent) : current.format;
  if ((format.rate ?? 24_000) !== 24_000) throw invalid('body', `${at}/format/rate`, 'must be 24000');
  const voice = typeof named === 'object' ? named?.id : named;
  if (voice !== undefined) requireVoice(speech, voice, `${at}/voice`);
  if (speech && speed != null && speed !== 1) requireSupport(speech, 'speed', `${at}/speed`);
  return { format, voice: named === undefined ? current.voice : voice, speed: pick(speed, current.speed, 1) };
}

function requireVoice(speech: AnswerModels['speech'], named: string, at: string): void {
  const { voices = [] } = speech?.entry ?? {};
  if (!speech || voices.length === 0) return;
  const voice = resolveVoice(speech, named);
  if (voice === undefined || voices.some(({ id }) => id === voice)) return;
  throw invalid('body', at, `must be a voice of the model "${speech.id}"`);
}

/** Returns the settings in the form that the client sees. */
export function toSettings(settings: AnswerSettings) {
  const { modality, tools, toolChoice, maxTokens } = settings;
  return {
    output_modalities: [modality],
    tools: tools.map((tool) => ({ type: 'function' as const, ...tool })),
    tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function' as const, ...toolChoice },
    max_output_tokens: maxTokens,
  };
}

/** Returns the voice that the client sees: as it was named, or the default. */
export const shownVoice = ({ voice }: AnswerSettings, { speech }: Pick<AnswerModels, 'speech'>): string =>
  voice ?? speech?.entry.defaultVoice ?? speech?.entry.voices?.[0]?.id ?? 'alloy';

/** Returns the call without its messages. */
export function toCall(settings: AnswerSettings, chat: ServedModel<'chat'>): Omit<ChatCall, 'model' | 'messages'> {
  const { tools, toolChoice, maxTokens, isParallel, effort } = settings;
  const provider = {
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(isParallel !== undefined && tools.length > 0 && { parallel_tool_calls: isParallel }),
  };
  return {
    ...(tools.length > 0 && { tools, toolChoice }),
    ...(maxTokens !== 'inf' && { maxTokens }),
    ...(supports(chat, 'json') && Object.keys(provider).length > 0 && { provider }),
  };
}
