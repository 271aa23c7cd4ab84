import { EngineError, type EngineContext, type SpeechFormat } from '../contract/index.ts';

/** Throws `format-not-supported` for a format that this machine cannot encode. */
export function requireFormat(format: SpeechFormat, { formats }: Pick<EngineContext, 'formats'>): void {
  if (formats.includes(format)) return;
  const message = `Format ${format} is not available on this machine; available: ${formats.join(', ')}.`;
  throw new EngineError('format-not-supported', message);
}
