/**
 * A project of podman-compose in a network namespace of its own: neither the ports nor the bridge and its rules are seen
 * outside.
 */
import { join } from 'node:path';
import { expect } from 'vitest';
import { run } from '../support/programs.ts';
import { openNamespace } from './namespace.ts';

const deploy = join(import.meta.dirname, '../../deploy');
const settings = `CONTAINERS_CONF=${join(import.meta.dirname, 'containers.conf')}`;

export interface Project extends AsyncDisposable {
  readonly network: string;
  /** Output of a program in the namespace. */
  within(...command: readonly string[]): Promise<string>;
  /** podman-compose with these variables: `NAME=value`. */
  compose(variables: readonly string[], ...command: readonly string[]): Promise<string>;
  /** The name of a container, given its service and number: `worker_1`. */
  container(service: string): string;
  /** The address and port of each listener in the namespace, but the name server of containers. */
  listening(): Promise<readonly string[]>;
  /** The status of an answer of the published port. */
  statusOf(path: string, ...options: readonly string[]): Promise<string>;
  /** The body of an answer that a container gets. */
  fetchFrom(service: string, url: string, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** What a container gets from the metrics port of another one. */
  metricsOf(service: string, host: string): Promise<string>;
}

/** `file` is in deploy/. Disposing of the project removes its containers, volumes and network. */
export async function openProject(file: string, name: string): Promise<Project> {
  const namespace = await openNamespace();
  const [enter, ...entering] = namespace.enter;
  const within = (...command: readonly string[]) =>
    run(enter, [...entering, 'env', settings, ...command], { deadlineMs: 100_000 });
  const container = (service: string) => `${name}_${service}`;
  const network = `${name}_default`;

  async function remove(what: 'container' | 'volume', listing: readonly string[], options: readonly string[]) {
    const label = `label=io.podman.compose.project=${name}`;
    const ids = (await within('podman', what, 'ls', '--quiet', '--filter', label, ...listing)).match(/\S+/g) ?? [];
    if (ids.length > 0) await within('podman', what, 'rm', '--force', ...options, ...ids);
  }

  function fetchFrom(service: string, url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const request = `await fetch(${JSON.stringify(url)}, { headers: ${JSON.stringify(headers)} })`;
    const script = `process.stdout.write(await (${request}).text())`;
    return within('podman', 'exec', container(service), 'node', '--input-type=module', '--eval', script);
  }

  return {
    network,
    within,
    compose: (variables, ...command) =>
      within(...variables, 'podman-compose', '--file', join(deploy, file), '--project-name', name, ...command),
    container,
    async listening() {
      const sockets = await within('ss', '-H', '--listening', '--tcp', '--udp', '--numeric');
      return (sockets.match(/\S+:\d+(?= )/g) ?? []).filter((address) => !address.endsWith(':53'));
    },
    statusOf: (path, ...options) =>
      within('curl', '--silent', '--output', '/dev/null', '--write-out', '%{http_code}', ...options, `http://127.0.0.1:8484${path}`).catch(String), // prettier-ignore
    fetchFrom,
    metricsOf: (service, host) => fetchFrom(service, `http://${host}:9464/metrics`),
    async [Symbol.asyncDispose]() {
      await remove('container', ['--all'], ['--time=0', '--volumes']);
      await remove('volume', [], []);
      await within('podman', 'network', 'rm', '--force', network);
      await namespace[Symbol.asyncDispose]();
    },
  };
}

interface Inspected {
  readonly HostConfig: {
    readonly ReadonlyRootfs: boolean;
    readonly SecurityOpt: readonly string[];
    readonly CapDrop: readonly string[];
  };
}

/** Read-only, without capabilities, never more rights, not root. */
export async function expectRestrictions(project: Project, service: string): Promise<void> {
  const name = project.container(service);
  const [{ HostConfig: host }] = JSON.parse(await project.within('podman', 'inspect', name)) as [Inspected];
  expect(host.ReadonlyRootfs, name).toBe(true);
  expect(host.SecurityOpt, name).toContain('no-new-privileges');
  expect(host.CapDrop.length, name).toBeGreaterThan(5);
  expect((await project.within('podman', 'top', name, 'huser')).match(/\S+/g)?.slice(1), name).not.toContain('root');
}
