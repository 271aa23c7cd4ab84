/** The configuration of a transcription session: the settings of its input. */
import { randomBytes } from 'node:crypto';
import type { Schemas } from '../operations.ts';
import type { SessionUpdate } from './client-events.ts';
import { openInput, toInput, updateInput, type ConfigServices, type InputConfig } from './input-config.ts';

export type SessionConfig = InputConfig;

export type Identity = Pick<Schemas['RealtimeTranscriptionSession'], 'id' | 'expires_at'>;

/** 60 minutes. */
export const lifeMs = 3_600_000;

export function newIdentity(): Identity {
  const id = `sess_${randomBytes(16).toString('base64url')}`;
  return { id, expires_at: Math.floor((Date.now() + lifeMs) / 1000) };
}

/** Throws the errors of the named or default model, even if it is only unavailable. */
export const openConfig: (services: ConfigServices, named: string | undefined) => SessionConfig = openInput;

/** Throws if a named model cannot be used. */
export function updateConfig(config: SessionConfig, { audio }: SessionUpdate, services: ConfigServices): SessionConfig {
  return updateInput(config, audio?.input ?? {}, services);
}

/** Returns the session in the form that the client sees. */
export function toSession(config: SessionConfig, identity: Identity): Schemas['RealtimeTranscriptionSession'] {
  const audio = { input: toInput(config) };
  return { type: 'transcription', object: 'realtime.transcription_session', ...identity, audio, include: null };
}
