/** The configuration of a conversation. */
import type { Services } from '../../handlers/dependencies.ts';
import { mayCall } from '../../keys/permissions.ts';
import { requireTranscription } from '../../transcription/run.ts';
import { UnsupportedValue } from '../errors.ts';
import type { Schemas } from '../operations.ts';
import {
  defaultInstructions,
  defaultSettings,
  shownVoice,
  toSettings,
  updateSettings,
  type AnswerModels,
  type AnswerSettings,
} from './answer-settings.ts';
import { isExpected } from './errors.ts';
import {
  chooseAvailable,
  openInput,
  pick,
  toInput,
  updateInput,
  type ConfigServices,
  type InputConfig,
} from './input-config.ts';

export interface ConversationConfig {
  readonly type: 'realtime';
  /** null if the API key may not transcribe, or no model can. The session then takes no audio. */
  readonly input: InputConfig | null;
  readonly isTranscriptSent: boolean;
  readonly createsResponse: boolean;
  readonly interruptsResponse: boolean;
  readonly truncation: Schemas['RealtimeTruncation'];
  readonly models: AnswerModels;
  readonly settings: AnswerSettings;
}

/** Throws the errors of the chat model. `named` is the model in the URL. */
export function openConversation(services: Services, named: string | undefined): ConversationConfig {
  const chat = chooseAvailable(services, 'chat', isRealtimeAlias(named, services) ? undefined : named);
  const speech = unlessUnavailable('createSpeech', () => chooseAvailable(services, 'speech', undefined));
  const input = unlessUnavailable('createTranscription', () => {
    requireTranscription(services);
    return openInput(services, undefined);
  });
  return {
    ...{ type: 'realtime', input: input ?? null, isTranscriptSent: false },
    ...{ createsResponse: true, interruptsResponse: true, truncation: 'auto', models: { chat, speech } },
    settings: { ...defaultSettings, modality: speech ? 'audio' : 'text' },
  };
}

/** Returns undefined if the API key may not use the operation, or no model can. */
function unlessUnavailable<T>(operation: 'createSpeech' | 'createTranscription', open: () => T): T | undefined {
  if (!mayCall(operation)) return undefined;
  try {
    return open();
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined; // the session shows that it has no audio
  }
}

/** OpenAI's ids of models for conversations, which programs hard-code. They stand for the model of the session. */
const realtimeAlias = /^gpt-(realtime|audio)|^gpt-4o(-mini)?-realtime-preview/;

function isRealtimeAlias(named: string | null | undefined, { registry, compatAliases }: ConfigServices): boolean {
  if (named == null || !realtimeAlias.test(named)) return false;
  return !compatAliases.has(named) && registry.of('chat').find(named) === undefined;
}

/** Throws if a model cannot be used, or does not support a setting. */
export function updateConversation(
  config: ConversationConfig,
  update: Schemas['RealtimeSessionUpdate'],
  services: ConfigServices,
): ConversationConfig {
  const { model: named, include, truncation } = update;
  const input = update.audio?.input ?? {};
  if (include != null && include.length > 0) throw new UnsupportedValue('/session/include', 'must be [] or null');
  const keeps = named == null || isRealtimeAlias(named, services);
  const chat = keeps ? config.models.chat : chooseAvailable(services, 'chat', named, '/session/model');
  const models = { ...config.models, chat };
  const settings = updateSettings(config.settings, update, models, '/session');
  const { transcription, turn_detection: detection } = input;
  const isSameType = detection?.type === undefined || detection.type === config.input?.detection?.type;
  const current = isSameType ? config : undefined;
  return {
    ...config,
    ...{ models, settings },
    truncation: toTruncation(pick(truncation, config.truncation, 'auto')),
    input: config.input && updateInput(config.input, input, services),
    isTranscriptSent: transcription === undefined ? config.isTranscriptSent : transcription !== null,
    ...(detection && {
      createsResponse: pick(detection.create_response, current?.createsResponse, true),
      interruptsResponse: pick(detection.interrupt_response, current?.interruptsResponse, true),
    }),
  };
}

/** Returns the session in the form that the client sees, without its identity. */
export function toConversation(config: ConversationConfig): Omit<Schemas['RealtimeSession'], 'id' | 'expires_at'> {
  const { models, settings, truncation } = config;
  const { format, speed } = settings;
  return {
    ...{ type: 'realtime', object: 'realtime.session', model: models.chat.id, ...toSettings(settings) },
    instructions: instructionsOf(config),
    truncation,
    audio: { input: toConversationInput(config), output: { format, voice: shownVoice(settings, models), speed } },
    ...{ tracing: null, prompt: null, include: null },
  };
}

function toConversationInput(config: ConversationConfig): Schemas['RealtimeConversationInput'] {
  if (!config.input) {
    const format = { type: 'audio/pcm', rate: 24_000 } as const;
    return { format, transcription: null, noise_reduction: null, turn_detection: null };
  }
  const { transcription, turn_detection: detection, ...input } = toInput(config.input);
  const { createsResponse: create_response, interruptsResponse: interrupt_response } = config;
  return {
    ...input,
    transcription: config.isTranscriptSent ? transcription : null,
    turn_detection: detection && { ...detection, create_response, interrupt_response, idle_timeout_ms: null },
  };
}

export const instructionsOf = ({ settings }: ConversationConfig): string =>
  settings.instructions ?? defaultInstructions;

/** Without the fields that have no effect. */
function toTruncation(sent: Schemas['RealtimeTruncation']): Schemas['RealtimeTruncation'] {
  return typeof sent === 'string' ? sent : { type: sent.type, retention_ratio: sent.retention_ratio };
}

/** Returns the share of the text that remains when the conversation no longer fits; undefined if it is not shortened. */
export function retentionOf({ truncation }: ConversationConfig): number | undefined {
  if (truncation === 'disabled') return undefined;
  return truncation === 'auto' ? 0.8 : truncation.retention_ratio;
}
