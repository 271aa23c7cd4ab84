/**
 * Stores the metrics and renders them in the text format of Prometheus. This is the only file that uses prom-client.
 */
import { createRequire } from 'node:module';
import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from 'prom-client';
import { Histogram, type HistogramRow } from './histogram.ts';
import { bounded, methodLabel, routeLabel } from './labels.ts';
import {
  earlyOutcomes,
  queueRefusals,
  waitParts,
  type CallFacts,
  type FleetEngineState,
  type FleetState,
  type MetricSources,
  type Metrics,
  type QueueState,
  type ResidentState,
  type RequestFacts,
} from './metrics.ts';
import { metricsTable as table } from './table.ts';

export interface PrometheusMetrics extends Metrics {
  readonly mediaType: string;
  /** Resolves with the metrics as text. Does not call any engine. */
  render(): Promise<string>;
}

/** Maximum numbers of label values, well above the numbers of models and tools of a typical service. */
const maxModels = 1_000;
const maxTools = 500;

export function createPrometheusMetrics(): PrometheusMetrics {
  const registry = new Registry();
  const kept = createKept(registry);
  const gauges = createGauges(registry);
  addProcessMetrics(registry);
  for (const outcome of earlyOutcomes) kept.realtimeEarly.inc({ outcome }, 0); // else rate() misses the first
  const model = bounded(maxModels);
  const tool = bounded(maxTools);

  function countRequest({ method, route, status, ms, error, key, operation }: RequestFacts): void {
    const labels = {
      http_request_method: methodLabel(method),
      http_route: routeLabel(route),
      http_response_status_code: status,
      error_type: error ?? '',
    };
    kept.requestDuration.observe(labels, ms / 1000);
    if (key !== undefined && operation !== undefined) kept.keyRequests.inc({ key, operation });
  }

  function countChat({ engine, ms, error, firstMs, tokens, key, ...facts }: CallFacts): void {
    const labels = {
      gen_ai_operation_name: 'chat',
      gen_ai_provider_name: engine,
      gen_ai_request_model: model(facts.model),
    };
    kept.chatDuration.observe({ ...labels, error_type: error ?? '' }, ms / 1000);
    if (firstMs !== undefined) kept.chatFirstChunk.observe(labels, firstMs / 1000);
    if (tokens === undefined) return;
    kept.chatTokens.observe({ ...labels, gen_ai_token_type: 'input' }, tokens.input);
    kept.chatTokens.observe({ ...labels, gen_ai_token_type: 'output' }, tokens.output);
    if (key !== undefined) kept.keyTokens.inc({ key }, tokens.total);
  }

  function countVoice({ capability, ms, error, firstMs, audioMs, key, ...facts }: CallFacts): void {
    const labels = { model: model(facts.model) };
    const duration = capability === 'speech' ? kept.speechDuration : kept.transcriptionDuration;
    duration.observe({ ...labels, error_type: error ?? '' }, ms / 1000);
    if (firstMs !== undefined) kept.speechFirstByte.observe(labels, firstMs / 1000);
    if (audioMs === undefined) return;
    kept.audioSeconds.inc(labels, audioMs / 1000);
    if (key !== undefined) kept.keyAudioSeconds.inc({ key }, audioMs / 1000);
  }

  return {
    mediaType: registry.contentType,
    async render() {
      await gauges.refresh();
      return registry.metrics();
    },
    requestStarted: gauges.requestStarted,
    requestEnded(facts) {
      gauges.requestEnded(facts.method);
      if (!facts.isProbe) countRequest(facts);
    },
    requestRefused: (status, error) => countRequest({ method: '', isProbe: false, status, ms: 0, error }),
    callEnded: (facts) => (facts.capability === 'chat' ? countChat : countVoice)(facts),
    jobPartEnded: (audioMs) => kept.jobSeconds.inc(audioMs / 1000),
    jobPartRetried: () => kept.jobRetries.inc(),
    sessionEnded: (ms) => kept.realtimeSeconds.observe({}, ms / 1000),
    turnEnded: () => kept.realtimeTurns.inc(),
    earlyEnded: (outcome) => kept.realtimeEarly.inc({ outcome }),
    answerBegan(waitMs) {
      for (const part of waitParts) kept.realtimeFirstSound.observe({ part }, waitMs[part] / 1000);
    },
    answerInterrupted: () => kept.realtimeInterruptions.inc(),
    toolEnded: (name, ok) => kept.toolCalls.inc({ tool: tool(name), ok: String(ok) }),
    keyLimited: (key, policy) => kept.keyLimited.inc({ key, policy }),
    openQueue(engine, state) {
      gauges.addQueue(engine, state);
      for (const reason of queueRefusals) kept.queueRefused.inc({ engine, reason }, 0); // else rate() misses the first
      return {
        started: (waitedMs) => kept.queueWait.observe({ engine }, waitedMs / 1000),
        refused: (reason) => kept.queueRefused.inc({ engine, reason }),
      };
    },
    watch: gauges.watch,
  };
}

/** Creates the metrics that events update. */
function createKept(registry: Registry) {
  const histogram = <Label extends string>(row: HistogramRow<Label>) => {
    const made = new Histogram(row);
    registry.registerMetric(made as unknown as Metric); // the registry uses only `name`, `type` and `get`
    return made;
  };
  const counter = <Label extends string>(row: Row<Label>) => new Counter<Label>(configOf(row, registry));
  return {
    requestDuration: histogram(table.requestDuration),
    chatDuration: histogram(table.chatDuration),
    chatFirstChunk: histogram(table.chatFirstChunk),
    chatTokens: histogram(table.chatTokens),
    transcriptionDuration: histogram(table.transcriptionDuration),
    speechDuration: histogram(table.speechDuration),
    speechFirstByte: histogram(table.speechFirstByte),
    queueWait: histogram(table.queueWait),
    audioSeconds: counter(table.audioSeconds),
    queueRefused: counter(table.queueRefused),
    keyRequests: counter(table.keyRequests),
    keyLimited: counter(table.keyLimited),
    keyAudioSeconds: counter(table.keyAudioSeconds),
    keyTokens: counter(table.keyTokens),
    toolCalls: counter(table.toolCalls),
    jobSeconds: counter(table.jobSeconds),
    jobRetries: counter(table.jobRetries),
    realtimeSeconds: histogram(table.realtimeSeconds),
    realtimeTurns: counter(table.realtimeTurns),
    realtimeEarly: counter(table.realtimeEarly),
    realtimeFirstSound: histogram(table.realtimeFirstSound),
    realtimeInterruptions: counter(table.realtimeInterruptions),
  };
}

/** Creates the metrics whose values are read from their source at rendering. */
function createGauges(registry: Registry) {
  const active = new Map<string, number>();
  const queues: { readonly engine: string; readonly state: () => QueueState }[] = [];
  let sources: MetricSources | undefined;
  let fleet: FleetState | undefined;

  const gauge = <Label extends string>(
    row: Row<Label>,
    read: () => Iterable<readonly [labels: Readonly<Record<Label, string>>, value: number]>,
  ) =>
    new Gauge<Label>({
      ...configOf(row, registry),
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });

  /** Creates a counter whose source keeps the value. */
  const sourced = <Label extends string>(
    row: Row<Label>,
    read: () => Iterable<readonly [Readonly<Record<Label, string>>, number]>,
  ) =>
    new Counter<Label>({
      ...configOf(row, registry),
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });

  const ofResidents = (read: (state: ResidentState) => number) => () =>
    (sources?.residents() ?? []).map((state) => [{ engine: state.engine, program: state.name }, read(state)] as const);

  const ofQueues = (fact: keyof QueueState) => () => {
    const sums = new Map<string, number>();
    for (const { engine, state } of queues) sums.set(engine, (sums.get(engine) ?? 0) + state()[fact]);
    return [...sums].map(([engine, value]) => [{ engine }, value] as const);
  };

  gauge(table.activeRequests, () => [...active].map(([method, value]) => [{ http_request_method: method }, value]));
  gauge(table.queueRunning, ofQueues('running'));
  gauge(table.queueWaiting, ofQueues('waiting'));
  gauge(table.queueSlots, ofQueues('slots'));
  gauge(table.engineAvailable, () => availability(sources));
  gauge(table.clips, () => [[{}, sources?.clips().count ?? 0]]);
  gauge(table.clipBytes, () => [[{}, sources?.clips().bytes ?? 0]]);
  gauge(table.jobs, () =>
    Object.entries(sources?.jobs?.().states ?? {}).map(([state, value]) => [{ state }, value] as const),
  );
  gauge(table.jobBytes, () => [[{}, sources?.jobs?.().bytes ?? 0]]);
  gauge(table.realtimeSessions, () => [[{}, sources?.sessions?.() ?? 0]]);
  gauge(table.mcpServerUp, () =>
    (sources?.mcpServers() ?? []).map(({ name, isUp }) => [{ server: name }, Number(isUp)]),
  );
  gauge(
    table.residentLoaded,
    ofResidents(({ isLoaded }) => Number(isLoaded)),
  );
  gauge(
    table.residentBytes,
    ofResidents(({ bytes }) => bytes),
  );
  sourced(
    table.residentLoads,
    ofResidents(({ loads }) => loads),
  );
  sourced(
    table.residentLoadSeconds,
    ofResidents(({ loadSeconds }) => loadSeconds),
  );
  sourced(
    table.residentCrashes,
    ofResidents(({ crashes }) => crashes),
  );
  /** Adds the fleet metrics. Called only in a fleet, because a gauge without labels is 0 until it is set. */
  function addFleet(): void {
    const engineGauge = (family: Parameters<typeof gauge>[0], read: (state: FleetEngineState) => number | undefined) =>
      gauge(family, () =>
        (fleet?.engines ?? []).flatMap((state) => {
          const value = read(state);
          return value === undefined ? [] : [[{ engine: state.engine }, value] as const];
        }),
      );
    gauge(table.fleetRedisUp, () => [[{}, Number(fleet?.isRedisUp ?? false)]]);
    gauge(table.fleetNodes, () => {
      const { fronts, workers } = fleet?.nodes ?? {};
      if (fronts === undefined || workers === undefined) return [];
      return [[{ role: 'front' }, fronts] as const, [{ role: 'worker' }, workers] as const];
    });
    engineGauge(table.fleetOpen, ({ all }) => all?.open);
    engineGauge(table.fleetRunning, ({ all }) => all?.running);
    engineGauge(table.fleetSlots, ({ all }) => all?.slots);
    engineGauge(table.fleetPaused, ({ isPaused }) => (isPaused === undefined ? undefined : Number(isPaused)));
    engineGauge(table.fleetOldestWait, ({ oldestWaitMs }) => oldestWaitMs && oldestWaitMs / 1000);
  }

  gauge(table.buildInfo, () => [[{ version, node: process.versions.node }, 1]]);

  const addActive = (method: string, change: number) => {
    const label = methodLabel(method);
    active.set(label, (active.get(label) ?? 0) + change);
  };
  return {
    requestStarted: (method: string) => addActive(method, 1),
    requestEnded: (method: string) => addActive(method, -1),
    addQueue: (engine: string, state: () => QueueState) => void queues.push({ engine, state }),
    /** Reads the asynchronous sources. */
    async refresh() {
      fleet = await sources?.fleet?.();
    },
    watch: (given: MetricSources) => {
      sources = given;
      if (given.fleet) addFleet();
    },
  };
}

/**
 * A model id that an engine serves for several capabilities counts as available only if it is available for all of
 * them.
 */
function availability(sources: MetricSources | undefined) {
  const found = new Map<string, readonly [labels: { engine: string; model: string }, value: number]>();
  for (const { engine, model, available } of (sources?.availability() ?? []).slice(0, maxModels)) {
    const name = `${engine} ${model}`;
    const [, before = 1] = found.get(name) ?? [];
    found.set(name, [{ engine, model }, Math.min(before, Number(available))]);
  }
  return found.values();
}

type Row<Label extends string> = Omit<HistogramRow<Label>, 'buckets'>;

function configOf<Label extends string>({ name, help, labels }: Row<Label>, registry: Registry) {
  return { name, help, labelNames: labels, registers: [registry] };
}

const { version } = createRequire(import.meta.url)('@parlance/server/package.json') as { readonly version: string };

/** Default gauges that are omitted because their names look like counters, which `promtool check metrics` rejects. */
const misnamed = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** Adds metrics of this process, without its children (whisper-cli, ffmpeg, espeak-ng). */
function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
}
