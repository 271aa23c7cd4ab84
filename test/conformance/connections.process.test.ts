/** What the kit sees of an engine's connections, whoever makes them. */
import { spawn } from 'node:child_process';
import { lookup, resolve4 } from 'node:dns';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { connectionsDuring } from '../../src/conformance/connections.ts';
import { createFinder } from '../../src/conformance/processes.ts';

const variable = `KIT_UNDER_TEST=${process.pid}`;
const during = (work: () => Promise<void>) => connectionsDuring(work, createFinder(variable));

/** Of this machine, but reached as another one is. */
function ownAddress(family: 'IPv4' | 'IPv6'): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find((one) => one.family === family && !one.internal && !one.address.startsWith('fe80'))?.address;
}

/** JavaScript that says when it is connected, and stays so: where nothing listens, a UDP socket is, too. */
const connected = (family: 'udp4' | 'udp6', address: string) =>
  `const socket = require('node:dgram').createSocket('${family}');
   socket.connect(9, '${address}', () => console.log('connected'));`;

/** Runs a program in which nothing but these variables is known, until it has been looked at while it is connected. */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(program, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  await once(child.stdout, 'data');
  await nextLook();
  process.kill(-child.pid!, 'SIGKILL'); // and what it has left alone
  await once(child.stdout, 'close');
}

/** The kit's timer is of this thread, too, and due before: it looks every few milliseconds. */
const nextLook = () => new Promise((done) => setTimeout(done, 50));

async function listen(address: string): Promise<number> {
  const server = createServer((socket) => socket.end()).listen(0, address);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('does not report loopback', async () => {
  const port = await listen('127.0.0.1');
  const here = await during(async () => {
    await fetch(`http://localhost:${port}/`).catch(() => undefined);
    await run(process.execPath, ['-e', connected('udp4', '127.0.0.1')]);
  });
  expect(here).toEqual([]);
});

it('reports the attempts of this process, including failed ones', async () => {
  const tried = await during(async () => {
    connect(9, '198.51.100.1')
      .on('error', () => undefined)
      .destroySoon();
    await new Promise((done) => lookup('looked-up.invalid', done));
    resolve4('resolved.invalid', () => undefined);
    await fetch('http://fetched.invalid/').catch(() => undefined);
  });
  const attempts = ['198.51.100.1', 'looked-up.invalid', 'resolved.invalid', 'fetched.invalid'];
  expect(tried).toEqual(expect.arrayContaining(attempts)); // and, as it may be, the name server
});

const own = ownAddress('IPv4');
const linux = process.platform === 'linux';

it.skipIf(own === undefined || !linux)('tells of what its threads are connected to', async () => {
  const code = `
    const net = require('node:net');
    const server = net.createServer().listen(0, '${own}', () => {
      net.connect(server.address().port, '${own}', () => require('node:worker_threads').parentPort.postMessage(''));
    });`;
  const seen = await during(async () => {
    const worker = new Worker(code, { eval: true });
    await once(worker, 'message');
    await nextLook();
    await worker.terminate();
  });
  expect(seen).toContain(own);
});

it.skipIf(own === undefined || !linux)('tells of what a program is connected to', async () => {
  const program = ['-e', connected('udp4', own!)];
  expect(await during(() => run(process.execPath, program))).toContain(own);
});

const own6 = ownAddress('IPv6');

it.skipIf(own6 === undefined || !linux)('tells of an address of IPv6', async () => {
  expect(await during(() => run(process.execPath, ['-e', connected('udp6', own6!)]))).toContain(own6);
});

it.skipIf(own === undefined || !linux)('tells of a program that another program has left alone', async () => {
  const [name, value] = variable.split('=') as [string, string];
  const orphan = `"${process.execPath}" -e "$CODE" & exit`;
  const env = { [name]: value, CODE: connected('udp4', own!) };
  expect(await during(() => run('/bin/sh', ['-c', orphan], env))).toContain(own);
});
