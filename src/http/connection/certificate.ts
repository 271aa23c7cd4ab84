/**
 * Keeps the certificate of a server up to date: a reload replaces the certificate, and the log warns before it expires.
 */
import type { Logger } from '../../../engines/contract/index.ts';
import { SettingsError, type LoadedSettings } from '../../settings/load.ts';
import { endingCertificates, readTls, type Tls } from '../../settings/tls.ts';
import type { ListeningServer } from './listener.ts';

interface Watched {
  readonly settings: Pick<LoadedSettings, 'tlsCert' | 'tlsKey'>;
  readonly log: Logger;
  readonly server: Pick<ListeningServer, 'setCertificate'>;
}

const dayMs = 86_400_000;

/** `tls` is the certificate and key that the server currently uses. */
export function watchCertificate(tls: Tls, { settings, log, server }: Watched) {
  let current = tls;
  let reloading = Promise.resolve();
  warn();
  const timer = setInterval(warn, dayMs).unref();

  function warn(): void {
    for (const facts of endingCertificates(current)) log.warn(facts, 'a certificate of TLS_CERT must be renewed');
  }

  async function reload(): Promise<void> {
    try {
      current = (await readTls(settings)) ?? current;
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      log.error({ reason: error.message }, 'the certificate is invalid; the previous one stays in effect');
      return;
    }
    server.setCertificate(current);
    log.info({}, 'the certificate was reloaded');
    warn();
  }

  return {
    /**
     * Reloads the pair; an invalid pair is logged and changes nothing. Resolves when the pair has been applied or
     * rejected.
     */
    reload: () => (reloading = reloading.then(reload, reload)),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
