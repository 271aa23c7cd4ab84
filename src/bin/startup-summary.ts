/** Summarizes for the operator what works and what does not, with one line per capability. */
import { EngineError, type Capability } from '../../engines/contract/index.ts';
import { joinFirst } from '../../lib/listing.ts';
import { commandLine } from '../../lib/setup-command.ts';
import { capabilities } from '../engine-host/registry/load-definition.ts';
import type { EngineFailure } from '../engine-host/models/instance.ts';
import { listModels, noModelHint, toEntry } from '../engine-host/models/model-selection.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { textFor } from '../contract/problems.ts';
import { runInScope } from '../request-scope.ts';
import type { Service } from '../service.ts';
import type { LoadedSettings } from '../settings/load.ts';
import type { RunningWorker } from '../start-worker.ts';
import { visible, type Paint } from './terminal.ts';

const titles: Readonly<Record<Capability, string>> = {
  transcription: 'Transcription',
  chat: 'Chat',
  speech: 'Speech',
};

export function describeService(
  service: Service | RunningWorker,
  settings: Pick<LoadedSettings, 'page' | 'publicUrl' | 'realtime'>,
  paint: Paint,
): string {
  const { registry, metricsUrl } = service;
  const isWorker = !('url' in service);
  const where = isWorker
    ? 'Parlance works for its fleet, and accepts no requests itself'
    : whereIs(service.url, settings);
  const lines = [paint('bold', where)];
  if (!isWorker && settings.realtime) lines.push(`  WebSocket      ${socketUrl(service.url, settings)}`);
  if (metricsUrl !== undefined) lines.push(`  Metrics        ${metricsUrl}`);
  for (const capability of isWorker ? (['transcription'] as const) : capabilities) {
    lines.push(`  ${titles[capability].padEnd(14)} ${describeCapability(registry, capability, paint)}`);
  }
  return lines.join('\n');
}

function whereIs(url: string, { page, publicUrl = url }: Pick<LoadedSettings, 'page' | 'publicUrl'>): string {
  const where = page ? `page: ${publicUrl}/, API reference: ${publicUrl}/docs` : `contract: ${publicUrl}/openapi.json`;
  return `Parlance listens on ${url} (${where})`;
}

function socketUrl(url: string, { publicUrl = url }: Pick<LoadedSettings, 'publicUrl'>): string {
  return `${publicUrl.replace(/^http/, 'ws')}/v1/realtime`;
}

/** Maximum number of working models that the summary names. */
const namesShown = 3;

/** Names the first working models, and the first reason why others do not work. */
function describeCapability(registry: Registry, capability: Capability, paint: Paint): string {
  const entries = entriesForOperator(registry, capability);
  const { instances, failures } = registry.of(capability);
  const working = entries.filter(isWorking).map(({ id }) => id);
  const isFailing = (instance: string) => failures.some((failure) => failure.instance === instance);
  const idle = entries.filter((entry) => !isWorking(entry) && !isFailing(entry.engine));
  const others = [...failures.map(describeFailure), ...idle.map(({ id, reason }) => `${id}: ${reason}`)];
  const missing = visible(onOneLine(summarize(others)));
  if (working.length > 0) {
    const works = `${paint('green', 'works')} with ${visible(joinFirst(working, namesShown))}`;
    return missing === '' ? works : `${works}; ${paint('yellow', 'not')} with ${missing}`;
  }
  const isComing = entries.some(({ code }) => code === 'preparing');
  const verdict = isComing ? 'not yet' : 'does not work';
  return `${paint('yellow', verdict)}: ${missing === '' ? visible(nothing(instances)) : missing}`;
}

type OperatorEntry = ReturnType<typeof toEntry>;

/** Returns the entries of the model list, with the reasons as shown to the operator. */
export function entriesForOperator(registry: Registry, capability: Capability): readonly OperatorEntry[] {
  return runInScope({ caller: '', isOperator: true }, () => {
    return listModels(registry, capability).models.map((model) => toEntry(model));
  });
}

/** Also false for a provider that did not answer the last call, although the next request would try it again. */
export function isWorking({ available, code }: OperatorEntry): boolean {
  return available && code !== 'upstream-unreachable';
}

/** Returns the first reason. The doctor shows all reasons. */
function summarize([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} \`${commandLine('doctor')}\` explains ${more.length} more.`;
}

const onOneLine = (text: string) => text.replaceAll('\n', ' ');

/** Describes a failure for the terminal and the doctor. */
export function describeFailure({ instance, what, error }: EngineFailure): string {
  if (EngineError.is(error)) return `${instance}: ${textFor({ isOperator: true }, error.message, error.forOperator)}`;
  return `the engine ${instance} fails at ${what}: ${error.message}`;
}

function nothing(instances: readonly string[]): string {
  return instances.length === 0 ? 'no engine is configured' : `no model now: ${noModelHint(instances)}`;
}
