/** deploy/: what its files say is so, as far as that can be read. *.deploy.test.ts run them. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isProbe } from '../../src/http/probes.ts';
import { settingsTable } from '../../src/settings/table.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');

const variables = new Set([
  ...Object.values(settingsTable).map(({ env }) => env),
  ...['NODE_ENV', 'NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX', 'HOME', 'PATH'],
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

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly limits: { readonly memory: string; readonly cpu?: string } };
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Deployment {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly enableServiceLinks: boolean;
        readonly securityContext: object;
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string; readonly emptyDir: { readonly sizeLimit: string } }[];
      };
    };
  };
}

interface Service {
  readonly spec: { readonly selector: object; readonly ports: readonly { readonly targetPort: string }[] };
}

interface FleetService {
  readonly image: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly command?: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
}

const unit = read('parlance.service');
const compose = parse(read('compose.yaml')) as Compose;
const { services: fleet } = parse(read('compose.fleet.yaml'), { merge: true }) as { services: Record<string, FleetService> }; // prettier-ignore
const nodes = Object.entries(fleet).filter(([, { image }]) => image === 'parlance');
const [deployment, service] = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS() as unknown) as [Deployment, Service]; // prettier-ignore
const { terminationGracePeriodSeconds, containers, ...pod } = deployment.spec.template.spec;
const containerfile = read('Containerfile');

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
  ...Object.fromEntries(
    nodes.map(([name, { stop_grace_period: grace, environment: env = {} }]) => [
      `compose.fleet.yaml: ${name}`,
      { untilKilled: seconds(grace), env },
    ]),
  ),
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
  const [, line = ''] = /^ENV (.*)$/m.exec(containerfile) ?? [];
  expect(line.split(' ').filter((pair) => !variables.has(pair.split('=')[0]!))).toEqual([]);
});

it('the Containerfile copies every file that the build of whisper-cli imports, so that only these compile it again', () => {
  const home = join(import.meta.dirname, '../..');
  const [, stage = ''] = /^FROM base AS whisper\n([^]*?)^FROM /m.exec(containerfile) ?? [];
  const copied = [...stage.matchAll(/^COPY (?!-)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  const needed = new Set(['scripts/build-whisper-packages.ts']);
  for (const file of needed) {
    const imports = readFileSync(join(home, file), 'utf8').matchAll(/^import (?!type )[^;]* from '(\.[^']+)';$/gm);
    for (const [, specifier = ''] of imports) needed.add(join(dirname(file), specifier));
  }
  const others = ['engines/whisper-cli/host', 'packages', 'LICENSE'];
  expect(copied.toSorted()).toEqual([...needed, ...others].toSorted());
});

it('compose publishes on this machine only, needs a key, and does not publish Ollama', () => {
  const { parlance, ollama } = compose.services;
  expect(parlance.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(parlance.environment.API_KEYS).toMatch(/^\$\{API_KEYS:\?/);
  expect(ollama.ports).toBeUndefined();
});

describe('deploy/compose.fleet.yaml', () => {
  const { haproxy, valkey, ...rest } = fleet as Record<'haproxy' | 'valkey', FleetService> & typeof fleet;

  it('publishes HAProxy on this machine only, and nothing else', () => {
    expect(haproxy.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
    expect([valkey, ...Object.values(rest)].flatMap(({ ports = [] }) => ports)).toEqual([]);
  });

  it('needs a secret for every node, and a key for every front', () => {
    expect(nodes.map(([name]) => name)).toEqual(['front-a', 'front-b', 'worker']);
    for (const [, { environment = {} }] of nodes) {
      expect(environment.FLEET_SECRET).toMatch(/^\$\{FLEET_SECRET:\?/);
      if (environment.FLEET_ROLE === 'front') expect(environment.API_KEYS).toMatch(/^\$\{API_KEYS:\?/);
    }
  });

  it('gives every front an address of its own, which HAProxy knows', () => {
    const fronts = nodes.filter(([, { environment }]) => environment?.FLEET_ROLE === 'front');
    for (const [name, { environment }] of fronts) expect(environment?.FLEET_ADDRESS).toBe(`http://${name}:8485`);
    const servers = [...read('haproxy.cfg').matchAll(/^ {2}server \w+ (\S+)$/gm)].map(([, address]) => address);
    expect(servers).toEqual(fronts.map(([name]) => `${name}:${Number(settingsTable.port.default)}`));
  });

  it('restricts every container, and keeps nothing in Valkey', () => {
    for (const { read_only, cap_drop, security_opt } of Object.values(fleet))
      expect({ read_only, cap_drop, security_opt }).toEqual({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }); // prettier-ignore
    expect(valkey.command).toMatch(/--save '' --appendonly no .*--maxmemory-policy noeviction/);
  });
});

it.each(Object.entries(files).filter(([name]) => name.endsWith('.yaml') || name.includes(': ')))(
  'deploy/%s has the metrics on, for machines that reach the container',
  (_name, { env }) => {
    expect(env).toMatchObject({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' });
  },
);

describe('deploy/kubernetes.yaml', () => {
  const [container] = containers as [Container];
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const mebibytes = (size: string) => Number(/^(\d+)(?=[MG]i$)/.exec(size)?.[1]) * (size.endsWith('Gi') ? 1024 : 1);

  it('gets no variables of other Services, which may have the names of settings', () => {
    expect(pod.enableServiceLinks).toBe(false);
  });

  it('serves on the default port, which the image exposes, and finds its pods', () => {
    const metrics = { name: 'metrics', containerPort: Number(files['kubernetes.yaml']!.env.METRICS_PORT) };
    expect(container.ports).toEqual([{ name: 'http', containerPort: settingsTable.port.default }, metrics]);
    expect(containerfile).toContain(`\nEXPOSE ${Number(settingsTable.port.default)}\n`);
    expect(service.spec.ports[0]).toMatchObject({ targetPort: 'http' });
    for (const labels of [deployment.spec.selector.matchLabels, deployment.spec.template.metadata.labels]) {
      expect(labels).toEqual(service.spec.selector);
    }
  });

  it('asks whether the process lives, and elsewhere whether it may be sent requests', () => {
    for (const probe of [startupProbe, livenessProbe])
      expect(probe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) expect(isProbe(httpGet.path)).toBe(true);
  });

  it('gives a start two minutes, and notices an unready pod before it restarts a dead one', () => {
    const seconds = ({ periodSeconds, failureThreshold }: Probe) => periodSeconds * failureThreshold;
    expect(seconds(startupProbe)).toBeGreaterThanOrEqual(120);
    expect(seconds(livenessProbe)).toBeGreaterThanOrEqual(30);
    expect(seconds(readinessProbe)).toBeLessThan(seconds(livenessProbe));
  });

  it('serves on while the endpoints change', () => {
    const { DRAIN_DELAY } = files['kubernetes.yaml']!.env;
    expect(Number(DRAIN_DELAY)).toBeGreaterThan(Number(settingsTable.drainDelay.default));
    expect(Number(DRAIN_DELAY)).toBeGreaterThanOrEqual(5);
  });

  it('has room for the files of requests and for a model, and no limit of the processor', () => {
    const sizes = new Map(pod.volumes.map(({ name, emptyDir }) => [name, mebibytes(emptyDir.sizeLimit)]));
    const dataVolume = container.volumeMounts.find(({ mountPath }) => mountPath === '/data')!.name;
    expect(sizes.get(dataVolume)).toBeGreaterThan(Number(settingsTable.diskBudget.example) / 2 ** 20);
    expect(mebibytes(container.resources.limits.memory)).toBeGreaterThanOrEqual(512 + 388); // whisper's base model
    expect(container.resources.limits.cpu).toBeUndefined();
  });

  it('takes no right that the image does not need', () => {
    const [, user = ''] = /^USER (\d+):/m.exec(containerfile) ?? [];
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user), fsGroup: Number(user) });
    expect(container.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
  });
});
