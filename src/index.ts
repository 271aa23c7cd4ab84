/** `@parlance/server`: embeds the service in another program. */
import { createLog } from './log.ts';
import { openApp, type App, type ServiceOptions } from './open-app.ts';
import { startService as start, type Service } from './service.ts';
import { loadSettings, SettingsError, type Environment, type LoadedSettings } from './settings/load.ts';
import { RegistryError } from './engine-host/registry/registry-error.ts';

export { createLog, loadSettings, RegistryError, SettingsError };
export type { App, Environment, LoadedSettings, Service, ServiceOptions };

/**
 * Creates the service as a request listener for your own server. By default, settings are read from the environment and
 * from parlance.config.yaml in the working directory. Missing programs and models are not installed: run `npx
 * @parlance/server setup`. On shutdown, close your server first, then dispose of the app. Throws a `SettingsError` or a
 * `RegistryError`.
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

/** The service with servers of its own, which listen when it resolves. Throws a `SettingsError` or a `RegistryError`. */
export function startService(options: ServiceOptions): Promise<Service> {
  return start(options);
}
