/** The configuration of a session, by its type. */
import { randomBytes } from 'node:crypto';
import type { OperationId } from '../../contract/operations.ts';
import type { Schemas } from '../operations.ts';
import { toConversation, updateConversation, type ConversationConfig } from './conversation-config.ts';
import { Refused } from './errors.ts';
import { openInput, toInput, updateInput, type ConfigServices, type InputConfig } from './input-config.ts';

export interface TranscriptionConfig {
  readonly type: 'transcription';
  readonly input: InputConfig;
}

export type SessionConfig = TranscriptionConfig | ConversationConfig;

export type SessionUpdate = Schemas['RealtimeTranscriptionSessionUpdate'] | Schemas['RealtimeSessionUpdate'];

export type Identity = Pick<Schemas['RealtimeTranscriptionSession'], 'id' | 'expires_at'>;

/** 60 minutes. */
export const lifeMs = 3_600_000;

export function newIdentity(): Identity {
  const id = `sess_${randomBytes(16).toString('base64url')}`;
  return { id, expires_at: Math.floor((Date.now() + lifeMs) / 1000) };
}

/** The operations that a session of the type performs; a key needs one of them. */
export const operationsOf = {
  transcription: ['createTranscription'],
  realtime: ['streamChat', 'createChat'],
} as const satisfies Record<SessionConfig['type'], readonly OperationId[]>;

/** Throws the errors of the named or default model, even if it is only unavailable. */
export function openConfig(services: ConfigServices, named: string | undefined): TranscriptionConfig {
  return { type: 'transcription', input: openInput(services, named) };
}

/** Throws if a model cannot be used, or does not support a setting. The update must be of the type of the session. */
export function updateConfig<Config extends SessionConfig>(
  config: Config,
  update: SessionUpdate,
  services: ConfigServices,
): Config;
export function updateConfig(config: SessionConfig, update: SessionUpdate, services: ConfigServices): SessionConfig {
  if (update.type === 'realtime') {
    return config.type === 'realtime' ? updateConversation(config, update, services) : config;
  }
  const input = config.input && updateInput(config.input, update.audio?.input ?? {}, services);
  return config.type === 'transcription' && input ? { ...config, input } : config;
}

/** Whether a turn with a transcript gets an answer without a request of the client. */
export const answersTurns = (config: SessionConfig): config is ConversationConfig =>
  config.type === 'realtime' && config.createsResponse && config.input?.detection != null;

export function requireInput({ input }: SessionConfig): void {
  if (input) return;
  throw new Refused(
    'unsupported_value',
    'The session takes no audio: the API key may not transcribe, or no model can.',
  );
}

/** Returns the session in the form that the client sees. */
export function toSession(config: TranscriptionConfig, identity: Identity): Schemas['RealtimeTranscriptionSession'];
export function toSession(config: SessionConfig, identity: Identity): AnySession;
export function toSession(config: SessionConfig, identity: Identity): AnySession {
  if (config.type === 'realtime') return { ...toConversation(config), ...identity };
  const audio = { input: toInput(config.input) };
  return { type: 'transcription', object: 'realtime.transcription_session', ...identity, audio, include: null };
}

type AnySession = Schemas['RealtimeTranscriptionSession'] | Schemas['RealtimeSession'];
