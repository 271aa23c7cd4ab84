/** Starts the service: settings, engines, server, signals. Missing assets are installed in the background. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger as PinoLogger } from 'pino';
import type { Capability, Logger } from '../../engines/contract/index.ts';
import { readCommandLine, startOptions, type CommandLine } from './command-line.ts';
import { onAbort } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import { describeModelDoubts } from './model-doubts.ts';
import { openPage } from './open-page.ts';
import { describeService } from './startup-summary.ts';
import { keepYoungObjectsYoung, letHeapGrow, optimizeEarly, shrinkHeap } from '../system/v8.ts';
import { whenOrphaned } from './orphan.ts';
import { installAssets, type InstallOptions } from './install-assets.ts';
import { createTerminal, paintFor, type Terminal } from './terminal.ts';
import { createLogLines, harmlessJson } from './log-lines.ts';
import { createLog } from '../log.ts';
import { startService, type Service } from '../service.ts';
import { startWorker, type RunningWorker } from '../start-worker.ts';
import { describeDoubts } from '../settings/doubts.ts';
import { loadSettings, type LoadedSettings } from '../settings/load.ts';
import { flushSpans } from '../trace.ts';
import { explainStartFailure } from './startup-error.ts';

const sandboxNotice =
  'THIS IS A SANDBOX (PARLANCE_SANDBOX): the engine `sandbox` returns made-up answers, and `Prefer: code=NNN` returns any declared response.';

/** Delay before caches are warmed, so that the first requests take precedence. */
const settleMs = 500;

/** Maximum time that the summary waits for engines to check their assets. */
const begunWithinMs = 1_000;

const commandLine = readCommandLine({
  command: 'start',
  about: 'Starts the service. SIGINT and SIGTERM stop it when the requests in flight have finished.',
  example: ['--port', '8485', '--open'],
  takes: startOptions,
});
keepYoungObjectsYoung();
letHeapGrow();
optimizeEarly();
const terminal = createTerminal();

async function run(commandLine: CommandLine): Promise<void> {
  const ended = listenForSignals();
  const started = await start(commandLine);
  if (!started) return;
  const { service, settings, log } = started;
  exitOnDefects(service, log);
  let preparation = Promise.resolve();
  const end = () => void Promise.all([drainAndStop(service, settings), preparation]).then(() => process.exit());
  onAbort(ended, end);
  if (ended.aborted) return;
  if (commandLine.opensPage && 'url' in service) {
    if (settings.page) openPage(service.url, log);
    else log.warn({}, 'the page was not opened: PAGE is off');
  }
  const withoutTranscription = !settings.transcribeSetup || !settings.transcribeEnabled;
  const also = [...(settings.voiceSetup ? ['voice'] : []), ...(settings.chatSetup ? ['chat'] : [])];
  const begun = Promise.withResolvers<undefined>();
  const howToStop = describeStop(settings, withoutTranscription);
  const onBegun = () => begun.resolve(undefined);
  preparation = prepare(service, log, { signal: ended, howToStop, withoutTranscription, also, onBegun });
  setTimeout(() => void finishStart(service, log), settleMs).unref();
  await Promise.race([begun.promise, sleep(begunWithinMs, undefined, { ref: false })]);
  // The summary is for the operator and goes to stderr; stdout is for the log.
  terminal.write(`${describeService(service, settings, terminal.paint)}\n`);
  const hasEngine = (capability: Capability) => service.registry.of(capability).instances.length > 0;
  const warn = (line: string) => terminal.print(`Warning: ${line}`);
  describeDoubts({ env: process.env, settings, hasEngine, now: Date.now() }).forEach(warn);
  void warnOfModels(started, ended, warn);
  if (settings.sandbox) terminal.print(sandboxNotice);
}

/** Waits for the providers as well, so that no model is reported missing merely because its list arrives late. */
async function warnOfModels({ service, settings, log }: Started, ended: AbortSignal, warn: (line: string) => void) {
  if (settings.fleetRole === 'worker') return;
  try {
    const doubts = await describeModelDoubts(service.registry, settings);
    if (!ended.aborted) doubts.forEach(warn);
  } catch (err) {
    log.error({ err }, 'the models in the settings could not be checked');
  }
}

async function finishStart(service: Service | RunningWorker, log: Logger): Promise<void> {
  try {
    if ('finishStart' in service) await service.finishStart();
  } catch (err) {
    log.warn({ err }, 'the validators of the contract could not be compiled; the next request retries');
  }
  shrinkHeap();
}

interface Started {
  readonly service: Service | RunningWorker;
  readonly settings: LoadedSettings;
  readonly log: PinoLogger;
}

async function start({ variablesFrom }: CommandLine): Promise<Started | undefined> {
  try {
    if (variablesFrom !== undefined) terminal.print(variablesFrom);
    const settings = loadSettings(process.env);
    const log = createLog(settings.logLevel, logTo(terminal, settings));
    const options = { settings, env: process.env, log };
    if (settings.fleetRole === 'worker') return { settings, log, service: await startWorker(options) };
    const starting = startService(options);
    reloadOnHangup(settings, starting);
    return { settings, log, service: await starting };
  } catch (error) {
    explainStartFailure(error);
    return undefined;
  }
}

/** Without files to reload, SIGHUP keeps its default behavior: closing the terminal ends the service. */
function reloadOnHangup({ apiKeysFile, tlsCert }: LoadedSettings, starting: Promise<Service>): void {
  if ((apiKeysFile ?? tlsCert) === undefined) return;
  process.on('SIGHUP', () => void starting.then((service) => service.reload(), ignore)); // its failure is reported elsewhere
}

/**
 * Returns the destination of the log; undefined for plain JSON on stdout. On a terminal, log lines appear above the
 * progress.
 */
function logTo(terminal: Terminal, { logFormat }: LoadedSettings) {
  const { stdout } = process;
  const isText = logFormat === 'auto' ? stdout.isTTY : logFormat === 'text';
  if (!isText && !stdout.isTTY) return undefined;
  stdout.on('error', () => {}); // a closed terminal must not end the service
  const toText = isText ? createLogLines(paintFor(stdout)) : harmlessJson;
  return { write: (line: string) => terminal.write(toText(line), stdout) };
}

/** Describes how to stop the installation at startup, and the settings that disable it. */
function describeStop({ voiceSetup, chatSetup }: LoadedSettings, withoutTranscription: boolean): string {
  const names = [
    ...(withoutTranscription ? [] : ['TRANSCRIBE_SETUP']),
    ...(voiceSetup ? ['VOICE_SETUP'] : []),
    ...(chatSetup ? ['CHAT_SETUP'] : []),
  ];
  const off = names.length === 0 ? '' : ` ${names.map((name) => `${name}=off`).join(', ')} turns it off.`;
  return `Ctrl-C stops it with the service, and the next start continues it.${off}`;
}

/**
 * Installs in the background. The installation begins before the summary is printed, so the summary shows `preparing`.
 * Resolves after the cleanup.
 */
async function prepare(
  { registry }: Service | RunningWorker,
  log: Logger,
  request: Omit<InstallOptions, 'log' | 'terminal'>,
): Promise<void> {
  try {
    await installAssets(registry.assets, { ...request, log, terminal });
  } catch (error) {
    log.debug({ err: error }, 'the preparation was aborted');
  }
}

/** npm forwards signals that the terminal has already sent to the whole process group, so they arrive twice. */
const forwardedWithinMs = 500;

/**
 * The first signal aborts the returned AbortSignal, even while the service is starting; a second one exits immediately.
 */
function listenForSignals(): AbortSignal {
  const ended = new AbortController();
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const end = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (first?.signal === signal && now - first.at < forwardedWithinMs) return;
    if (first) process.exit(1);
    first = { signal, at: now };
    ended.abort(new Error(`stopped by ${signal}`));
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  whenOrphaned(process.env, () => first ?? end('SIGTERM'));
  return ended.signal;
}

/** Maximum time that a tracer may delay the exit. */
const flushTimeoutMs = 2_000;

/** A load balancer takes a while to react to `/readyz`. Until then, it sends new requests, which are still served. */
async function drainAndStop(
  service: Service | RunningWorker,
  { drainDelay, shutdownGrace }: LoadedSettings,
): Promise<void> {
  service.drain();
  if (drainDelay > 0) await sleep(drainDelay * 1000);
  await service.stop(shutdownGrace * 1000);
  await flushSpans(flushTimeoutMs);
}

/** Maximum delay of the exit, so that a supervisor sees it within a second. */
const exitTimeoutMs = 800;

/**
 * Handles uncaught exceptions, which include unhandled rejections. The state of the process is then unknown: requests
 * in flight fail with `shutting-down`, and the process exits with code 1, so that a supervisor can restart it.
 */
function exitOnDefects(service: Service | RunningWorker, log: PinoLogger): void {
  let isExiting = false;
  const exit = () => process.exit();
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'exiting after an uncaught exception');
    if (isExiting) return;
    isExiting = true;
    process.exitCode = 1;
    setTimeout(exit, exitTimeoutMs);
    service.stop(0).then(exit, exit);
  });
}

// Must come last: a signal handler may call functions that use the constants above.
if (commandLine) await run(commandLine);
