/**
 * The servers that these benchmarks compare: the provider alone, and the service, a gateway or a bare proxy in front of
 * it.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnService, type ChildService, type ProcessOptions } from '../../test/support/child-service.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startNode, type Child } from './children.ts';

export interface ChatServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
}

const json = { 'content-type': 'application/json' };

export interface Provider extends Child {
  /** Such as http://127.0.0.1:1234/v1 */
  readonly baseUrl: string;
}

export async function startChatProvider(tokens: number, pauseMs: number): Promise<Provider> {
  const child = startNode(join(import.meta.dirname, 'chat-provider.ts'), String(tokens), String(pauseMs));
  return { ...child, baseUrl: `http://127.0.0.1:${await child.firstLine}/v1` };
}

const completionsOf = ({ baseUrl }: Pick<Provider, 'baseUrl'>) => `${baseUrl}/chat/completions`;

export const directly = (provider: Provider): ChatServer => ({
  url: completionsOf(provider),
  headers: json,
  pid: provider.pid,
});

/** The service in production mode. */
export async function startChatService(
  { baseUrl }: Provider,
  { env, files }: Pick<ProcessOptions, 'env' | 'files'> = {},
): Promise<ChildService> {
  return spawnService({
    env: { NODE_ENV: 'production', LOG_LEVEL: 'warn', ...env },
    ...(files && { files }),
    config: `engines: { fake: { use: llm-agent, baseUrl: "${baseUrl}", models: [fake] } }`,
  });
}

export const through = ({ url, pid }: ChildService, path = '/api/v1/chat'): ChatServer => ({
  url: `${url}${path}`,
  headers: json,
  pid,
});

export async function startBareProxy(provider: Provider): Promise<Child & ChatServer> {
  const child = startNode(join(import.meta.dirname, 'bare-proxy.ts'), completionsOf(provider));
  return { ...child, url: `http://127.0.0.1:${await child.firstLine}/`, headers: json };
}

const readyWithinMs = 20_000;

export interface Gateway extends Child, ChatServer {}

/** @portkey-ai/gateway, which receives the URL of the provider in headers. */
export async function startGateway({ baseUrl }: Pick<Provider, 'baseUrl'>): Promise<Gateway> {
  const port = await freePort();
  const manifest = createRequire(import.meta.url).resolve('@portkey-ai/gateway/package.json');
  const child = startNode(join(manifest, '../build/start-server.js'), `--port=${port}`, '--headless');
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; !(await answers(url)); waited += 100) {
    if (waited > readyWithinMs) throw new Error('the gateway does not answer');
    await pause(100);
  }
  const headers = {
    ...json,
    authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': baseUrl,
  };
  return { ...child, url: `${url}/v1/chat/completions`, headers };
}

const answers = (url: string) =>
  fetch(url).then(
    (answer) => answer.arrayBuffer().then(() => true),
    () => false,
  );
