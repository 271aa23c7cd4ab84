/** deploy/: what its files say is so, as far as that can be read. *.deploy.test.ts run them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { settingsTable } from '../../src/settings/table.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');

const variables = new Set([
  ...Object.values(settingsTable).map(({ env }) => env),
  ...['NODE_ENV', 'NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX', 'HOME'],
]);

const seconds = (text: unknown) => Number(String(text).replace(/s$/, ''));

/** Seconds from SIGTERM to SIGKILL, and the variables that the service is given. */
interface Described {
  readonly untilKilled: number;
  readonly env: Readonly<Record<string, string>>;
}

interface Compose {
  readonly services: {
    readonly parlance: {
      readonly ports: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly stop_grace_period: string;
    };
    readonly ollama: { readonly ports?: readonly string[] };
  };
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value: string }[] }[];
      };
    };
  };
}

const unit = read('parlance.service');
const compose = parse(read('compose.yaml')) as Compose;
const deployment = parseAllDocuments(read('kubernetes.yaml'))[0]!.toJS() as Deployment;
const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;

const files: Readonly<Record<string, Described>> = {
  'parlance.service': {
    untilKilled: seconds(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1]),
    env: Object.fromEntries(
      [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
        line.split(' ').map((pair) => pair.split('=') as [string, string]),
      ),
    ),
  },
  'compose.yaml': {
    untilKilled: seconds(compose.services.parlance.stop_grace_period),
    env: compose.services.parlance.environment,
  },
  'kubernetes.yaml': {
    untilKilled: terminationGracePeriodSeconds,
    env: Object.fromEntries(containers[0]!.env.map(({ name, value }) => [name, value])),
  },
};

describe.each(Object.entries(files))('deploy/%s', (_name, { untilKilled, env }) => {
  it('leaves the service the time that it takes to end', () => {
    expect(untilKilled).toBeGreaterThanOrEqual(Number(env.DRAIN_DELAY) + Number(env.SHUTDOWN_GRACE) + 3);
  });

  it('sets only variables that exist', () => {
    expect(Object.keys(env).filter((name) => !variables.has(name))).toEqual([]);
  });
});

it('the Containerfile sets only variables that exist', () => {
  const [, line = ''] = /^ENV (.*)$/m.exec(read('Containerfile')) ?? [];
  expect(line.split(' ').filter((pair) => !variables.has(pair.split('=')[0]!))).toEqual([]);
});

it('compose publishes on this machine only, needs a key, and does not publish Ollama', () => {
  const { parlance, ollama } = compose.services;
  expect(parlance.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(parlance.environment.API_KEYS).toMatch(/^\$\{API_KEYS:\?/);
  expect(ollama.ports).toBeUndefined();
});
