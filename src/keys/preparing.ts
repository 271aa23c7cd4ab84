/**
 * Decides who may start and stop preparations over HTTP, because preparations use this machine's disk, network and CPU.
 * Also decides whose requests count as the operator's.
 */
import { isLoopback } from '../../lib/loopback.ts';
import { requiresKeys, type LoadedSettings } from '../settings/load.ts';
import type { RequestSource } from '../contract/operations.ts';
import { currentCaller } from '../request-scope.ts';
import { mayCall } from './permissions.ts';

/** Returns a sentence that explains why the caller may not do so; undefined if the caller may. */
export type RefusePreparing = (source: RequestSource, operation: PreparingOperation) => string | undefined;

type PreparingOperation = 'startPreparation' | 'stopPreparation';

type ExposureSettings = Pick<LoadedSettings, 'apiKeys' | 'apiKeysFile' | 'host' | 'allowOpen' | 'trustProxy'>;
type PreparingSettings = ExposureSettings & Pick<LoadedSettings, 'prepare'>;

/** Whether requests from loopback count as the operator's: the service has no keys and serves only this machine. */
export function servesThisMachineOnly(settings: ExposureSettings): boolean {
  return !requiresKeys(settings) && beyondThisMachine(settings) === undefined;
}

export function createPreparingRule(settings: PreparingSettings): RefusePreparing {
  if (!settings.prepare) return () => 'Preparations over HTTP are off (PREPARE=off).';
  if (requiresKeys(settings)) return (_source, operation) => (mayCall(operation) ? undefined : withoutPermission);
  const beyond = beyondThisMachine(settings);
  if (beyond !== undefined) return () => `Without API keys, ${beyond} allows no preparations over HTTP; ${remedy}`;
  return ({ host, origin }) => {
    if (!isLoopback(currentCaller())) return `Without API keys, only this machine may start preparations; ${remedy}`;
    const isOwnPage = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
    return isOwnPage ? undefined : "Only the service's own page may start preparations.";
  };
}

const remedy = 'use the command, or an API key of API_KEYS_FILE that lists startPreparation.';
const withoutPermission = 'The API key may not use startPreparation; only a key that lists it in API_KEYS_FILE may.';

/** Returns the setting that opens the service to other machines; undefined if no setting does. */
function beyondThisMachine({ host, allowOpen, trustProxy }: ExposureSettings): string | undefined {
  if (!isLoopback(host)) return 'HOST beyond loopback';
  if (allowOpen) return 'ALLOW_OPEN';
  return trustProxy > 0 ? 'TRUST_PROXY' : undefined;
}
