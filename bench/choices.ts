/** The time of choosing the model of a request among 1,000 entries, compared with among one. */
import { pino } from 'pino';
import type { Engines, ModelEntry } from '../engines/contract/index.ts';
import { Assets } from '../src/engine-host/assets/assets.ts';
import { availabilityIn, OpenedParts } from '../src/engine-host/models/availability.ts';
import type { Instance } from '../src/engine-host/models/instance.ts';
import { chooseModel, requireAvailable } from '../src/engine-host/models/model-selection.ts';
import { PublishedModels } from '../src/engine-host/models/published.ts';
import { Registry } from '../src/engine-host/registry/registry.ts';
import { createKey } from '../src/keys/key.ts';
import { runInScope } from '../src/request-scope.ts';
import { interleave } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { milliseconds, runBenchmarks, type Row } from './support/table.ts';

const choices = 10_000;
/** The model that every registry of this benchmark serves, as its last one. */
const last = 'last';

export async function benchChoices({ rounds }: BenchOptions): Promise<Row[]> {
  const [many, engines] = [registryOf(1, 1_000), registryOf(100, 10)];
  const rows: Row[] = [];
  for (const { what, few, choose } of kinds) {
    const work = (registry: Registry) => () => Promise.resolve(timeOf(() => choose(registry)));
    const contestants = { few: work(registryOf(1, few)), many: work(many), engines: work(engines) };
    const times = await interleave(contestants, rounds * 5);
    const row = (name: string, measured: readonly number[]): Row => ({
      what: name,
      measured: milliseconds(fastest(measured)),
      against: milliseconds(fastest(times.few)),
      ratio: fastest(measured) / fastest(times.few),
      goal: { atMost: 1.5 },
    });
    rows.push(row(`10,000 choices of ${what} among 1,000 entries, against among ${few} (the fastest)`, times.many));
    rows.push(row('  the 1,000 entries of 100 engines', times.engines));
  }
  return rows;
}

interface Kind {
  readonly what: string;
  /** The number of entries to compare with. */
  readonly few: number;
  readonly choose: (registry: Registry) => void;
}

const narrow = createKey('narrow', { models: [last] });

const kinds: readonly Kind[] = [
  { what: 'the model that a request names', few: 1, choose: (registry) => choose(registry, last) },
  { what: 'the default model', few: 1, choose: (registry) => choose(registry, undefined) },
  {
    what: 'the default model of a key that may use only the last one',
    few: 2,
    choose: (registry) => runInScope({ caller: 'narrow', key: narrow }, choose, registry, undefined),
  },
];

function choose(registry: Registry, named: string | undefined): void {
  const served = registry.of('chat');
  for (let choice = 0; choice < choices; choice++) requireAvailable(chooseModel(registry, 'chat', named), served);
}

function timeOf(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** The fastest: whatever else the machine does only adds to the time. */
const fastest = (times: readonly number[]) => Math.min(...times);

function registryOf(engines: number, entriesOfEach: number): Registry {
  const assets = new Assets();
  const log = pino({ level: 'silent' });
  const instances = Array.from({ length: engines }, (_engine, index): Instance<'chat'> => {
    const opened = new OpenedParts();
    const published = new PublishedModels({ log });
    const isLast = (entry: number) => index === engines - 1 && entry === entriesOfEach - 1;
    const entries = Array.from({ length: entriesOfEach }, (_entry, entry): ModelEntry => ({
      id: isLast(entry) ? last : `model-${index}-${entry}`,
      local: false,
    }));
    published.publish(entries);
    return {
      ...{ name: `engine-${index}`, capability: 'chat', engine: {} as Engines['chat'], published, log },
      failures: () => published.failures.map((error) => ({ what: 'models', error })),
      availabilityOf: availabilityIn(opened, assets),
    };
  });
  return new Registry(instances, assets, { defaults: {} });
}

if (import.meta.main) await runBenchmarks([benchChoices]);
