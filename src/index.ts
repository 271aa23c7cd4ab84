/** `@parlance/server`: the API for embedding the service in another program. */
import { createLog } from './log.ts';
import { openApp, type App, type ServiceOptions } from './open-app.ts';
import { startService as start, type Service } from './service.ts';
import { loadSettings, SettingsError, type Environment, type LoadedSettings } from './settings/load.ts';
import { RegistryError } from './engine-host/registry/registry-error.ts';

export { createLog, loadSettings, RegistryError, SettingsError };
export type { App, Environment, LoadedSettings, Service, ServiceOptions };

/**
 * Creates the service as a request listener for your own server. Unless `settings` is given, reads the environment and
 * parlance.config.yaml in the working directory. Does not install missing programs and models; to install them, run
 * `npx @parlance/server setup`. On shutdown, close your server first, then dispose of the app. Throws a `SettingsError`
 * or a `RegistryError`.
 *
 * @example
 * import { createServer } from 'node:http';
 * import { createApp } from '@parlance/server';
 *
 * const app = await createApp();
 * const server = createServer(app.listener).listen(8080);
 * process.once('SIGTERM', () => server.close(() => void app[Symbol.asyncDispose]()));
 */
export async function createApp({ env = process.env, ...given }: Partial<ServiceOptions> = {}): Promise<App> {
  const settings = given.settings ?? loadSettings(env);
  return openApp({ log: createLog(settings.logLevel), ...given, settings, env });
}

/**
 * Starts the service with its own servers. Resolves once they are listening. Throws a `SettingsError` or a
 * `RegistryError`.
 */
export function startService(options: ServiceOptions): Promise<Service> {
  return start(options);
}
