/**
 * The assets of all engines, and the state of each. Commands, the API, the availability of models and the start all
 * read them from here.
 */
import type { Asset, AssetGroup, Availability, Capability, ModelEntry } from '../../../engines/contract/index.ts';
import { linkedSignal, raceAbort } from '../../../lib/abort.ts';
import { ignore, messageOf } from '../../../lib/errors.ts';
import { nameSetup, setupCommand } from '../../../lib/setup-command.ts';
import { within } from '../guard/within.ts';
import {
  bytesLeftOf,
  doingOf,
  downloadedOf,
  install,
  isBusyElsewhere,
  sourceOf,
  waitingFor,
  type InstallContext,
  type Step,
} from './install.ts';
import { removeDownloads } from './receipts.ts';

/** An engine that declares assets. */
export interface Declaring {
  readonly instance: string;
  readonly capability: Capability;
  readonly groups: readonly AssetGroup[];
  readonly context: InstallContext;
  /** `Engine.recheck`. Never rejects. */
  readonly recheck?: (() => Promise<void>) | undefined;
}

export interface InstallRequest {
  /** Id of a group. Without it, the automatic groups. */
  readonly id?: string | undefined;
  /** Ids of further groups, if there is no `id`. */
  readonly also?: readonly string[];
  /** True with TRANSCRIBE_SETUP=off. */
  readonly withoutTranscription?: boolean;
  /** True if the operator has requested the groups: their optional assets are then installed, too. */
  readonly isExplicit?: boolean;
}

export interface InstallEvents {
  readonly signal: AbortSignal;
  /** Called when the work on all missing assets has begun and their states are `preparing`. */
  readonly onBegun?: (() => void) | undefined;
  readonly onStep?: (asset: string, step: Step) => void;
  readonly onDone?: (asset: string) => void;
  /** Called at once, while other installations continue. */
  readonly onFailure?: (asset: string, error: Error) => void;
}

export type AssetState = 'ready' | 'preparing' | 'missing' | 'failed';

/** The current state of a group. */
export interface GroupStatus extends Pick<AssetGroup, 'id' | 'model' | 'settings'> {
  readonly title: string;
  /** A short sentence that says what the group is good for; "" if the engine has none. */
  readonly purpose: string;
  readonly capability: Capability;
  readonly configured: boolean;
  /** True if another group, which the settings need, has all of its assets. */
  readonly isIncluded: boolean;
  /** Size of the download; null if unknown. */
  readonly bytes: number | null;
  readonly bytesLeft: number;
  readonly license: string;
  /** The command that installs it. */
  readonly command: string;
  readonly source: string;
  readonly state: AssetState;
  readonly reason: string;
  readonly progress: number | null;
  /** Id in requests of the model that it serves; null if it serves none or several, or if the settings have to list it. */
  readonly serves: string | null;
}

/** An installation of an asset by this process. */
interface Work {
  readonly asset: Asset;
  /** Ids of the groups that requested it. */
  readonly groups: Set<string>;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  step: Step;
}

/** The result of the last attempt, unless it succeeded. */
type InstallOutcome = { readonly failure: string } | { readonly isStopped: true };

/** The current state of an asset. `reason` is a sentence. */
interface AssetStatus {
  readonly asset: Asset;
  readonly state: AssetState;
  readonly reason: string;
  readonly progress: number | null;
}

/** An asset that is not ready. */
interface LackingAsset extends AssetStatus {
  /** Why it cannot be made on this machine and how to change that, as a sentence without a period. */
  readonly obstacle: string | undefined;
  /** The command that installs it. */
  readonly command: string;
}

/** A group, merged from all engines that declare it. */
interface MergedGroup extends AssetGroup {
  readonly capability: Capability;
}

interface Found {
  /** An error if an engine cannot tell. */
  readonly isReady: boolean | Error;
  /** How much of it another process has installed, from 0 to 1, or null if unknown; undefined if none is installing it. */
  readonly elsewhere: { readonly done: number | null } | undefined;
}

const unchecked: Found = { isReady: false, elsewhere: undefined };

const readyMs = 1_000;

export class Assets {
  readonly #declaring: Declaring[] = [];
  /** The declarations of each asset by all engines. */
  readonly #byId = new Map<string, Asset[]>();
  readonly #work = new Map<string, Work>();
  readonly #outcomes = new Map<string, InstallOutcome>();
  /** What the last check of each asset has found. */
  readonly #found = new Map<string, Found>();

  declare(engine: Declaring): void {
    this.#declaring.push(engine);
    const assets = new Set(engine.groups.flatMap(allAssetsOf));
    for (const asset of assets) this.#byId.set(asset.id, [...this.#declared(asset.id), asset]);
  }

  // ----------------------------------------------------------------------------------------------------- states

  /** Checks which assets are installed: the states say so from then on. Never rejects. */
  async check(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((same) => this.#check(same)));
  }

  async #check([asset, ...others]: readonly Asset[]): Promise<void> {
    if (!asset) return;
    const isReady = await isReadyFor([asset, ...others]);
    const own = Array.from(this.#work.values(), (one) => one.asset);
    const elsewhere = isReady !== true && isBusyElsewhere(asset, own) ? { done: await downloadedOf(asset) } : undefined;
    this.#found.set(asset.id, { isReady, elsewhere });
  }

  /** Lists the groups; those that the settings need come first. */
  async list(): Promise<GroupStatus[]> {
    const groups = this.#groups();
    const statuses = await Promise.all(groups.map((group) => this.#statusOf(group)));
    return [...statuses.filter(({ configured }) => configured), ...statuses.filter(({ configured }) => !configured)];
  }

  async find(id: string): Promise<GroupStatus | undefined> {
    const group = this.#groups().find((one) => one.id === id);
    return group && this.#statusOf(group);
  }

  /** The missing assets that the settings need for an engine. */
  lackingOf(instance: string): readonly LackingAsset[] {
    const groups = this.#declaring.filter((one) => one.instance === instance).flatMap((one) => one.groups);
    const assets = unique(groups.filter(({ isConfigured }) => isConfigured).flatMap((group) => group.assets));
    const lacking = assets.map((asset) => this.#assetStatus(asset)).filter(({ state }) => state !== 'ready');
    return lacking.map((one) => ({ ...one, obstacle: obstacleOf(one.asset), command: this.#commandFor(one.asset) }));
  }

  /** Why an entry cannot be used because of its assets; undefined if they are ready. */
  availabilityOf({ needs = [] }: Pick<ModelEntry, 'needs'>): Availability | undefined {
    if (needs.every((id) => this.#found.get(id)?.isReady === true && !this.#work.has(id))) return undefined;
    const needed = needs.flatMap((id) => this.#declared(id)[0] ?? []);
    const lacking = needed.map((asset) => this.#assetStatus(asset)).filter(({ state }) => state !== 'ready');
    const [first] = lacking;
    if (!first) return undefined;
    const failed = lacking.find(({ state }) => state === 'failed');
    if (!failed && lacking.some(({ state }) => state === 'preparing')) {
      const { reason, progress } = summarize(lacking);
      return { available: false, code: 'preparing', reason, ...(progress !== null && { progress }) };
    }
    const { asset, reason } = failed ?? first;
    const code = asset.kind === 'files' ? 'model-file-missing' : 'program-missing';
    return { available: false, code, reason: failed ? `${reason} ${this.#tryAgain(asset)}` : this.#howToGet(asset) };
  }

  // ------------------------------------------------------------------------------------------------------- installation

  /**
   * Installs the missing assets of the request: model files one after the other, and all others concurrently. A failure
   * does not stop the others. Resolves with the failures; rejects with the signal's reason.
   */
  async install(request: InstallRequest, events: InstallEvents): Promise<Error[]> {
    await this.check();
    const groups = this.#requested(request);
    const assets = unique(groups.flatMap((group) => assetsOf(group, request)));
    const missing = assets.filter(({ id }) => this.#found.get(id)?.isReady !== true);
    const failures: Error[] = [];
    const lanes = [missing.filter(({ kind }) => kind === 'files'), missing.filter(({ kind }) => kind !== 'files')];
    const works = lanes.flatMap((lane) => {
      let before: Promise<unknown> = Promise.resolve();
      return lane.map((asset) => {
        const work = this.#work.get(asset.id) ?? this.#begin(asset, before, events);
        for (const group of groups) if (assetsOf(group, request).includes(asset)) work.groups.add(group.id);
        const { done } = work;
        before = done.catch(ignore);
        return done.catch((error: unknown) => {
          if (events.signal.aborted) return;
          failures.push(error as Error);
          events.onFailure?.(asset.id, error as Error);
        });
      });
    });
    events.onBegun?.();
    await Promise.all(works);
    events.signal.throwIfAborted();
    return failures;
  }

  /** Resolves when the installation of the group has ended. Assets that other groups need are still installed. */
  async stop(id: string): Promise<void> {
    const works = [...this.#work.values()].filter(({ groups }) => groups.delete(id) && groups.size === 0);
    for (const { stop } of works) stop.abort(new Error('the installation was stopped'));
    await Promise.allSettled(works.map(({ done }) => done));
  }

  /**
   * Unloads and removes a downloaded model. Resolves with false if it is not installed. Rejects with the reason if it
   * cannot be removed.
   */
  async remove(id: string, signal: AbortSignal): Promise<boolean> {
    const group = this.#groups().find((one) => one.id === id && one.model !== undefined);
    const asset = group?.assets.at(-1);
    if (asset?.kind !== 'files') throw new Error('it is not a single model');
    const { dataDir } = this.#contextOf(asset);
    const isRemoved = await removeDownloads(dataDir, asset.files.map(({ path }) => path), signal); // prettier-ignore
    await this.#changed(asset);
    return isRemoved;
  }

  /** The groups that the request names. */
  #requested({ id, also = [], withoutTranscription = false }: InstallRequest): MergedGroup[] {
    if (id !== undefined) return this.#groups().filter((group) => group.id === id);
    return this.#groups().filter(
      ({ id, isAutomatic, capability }) =>
        (isAutomatic === true && !(withoutTranscription && capability === 'transcription')) || also.includes(id),
    );
  }

  /** The assets that `install` would install, for the operator. */
  missing(request: InstallRequest): readonly { readonly asset: Asset; readonly capability: Capability }[] {
    const seen = new Set<string>();
    const all = this.#requested(request).flatMap((group) => assetsOf(group, request).map((asset) => ({ asset, capability: group.capability }))); // prettier-ignore
    const found = all.filter(({ asset: { id } }) => this.#found.get(id)?.isReady !== true);
    return found.filter(({ asset: { id } }) => !seen.has(id) && seen.add(id));
  }

  #begin(asset: Asset, before: Promise<unknown>, { signal, onStep, onDone }: InstallEvents): Work {
    const stop = new AbortController();
    const work: Work = {
      ...{ asset, groups: new Set<string>(), stop, step: { doing: doingOf(asset), done: null } },
      done: (async () => {
        using link = linkedSignal(signal, stop.signal);
        try {
          await raceAbort(before, link.signal);
          const step = (step: Step) => {
            work.step = step;
            onStep?.(asset.id, step);
          };
          const recheck = () => this.#recheck(asset);
          await install(asset, this.#contextOf(asset), { signal: link.signal, onStep: step, recheck });
          await this.#changed(asset);
          onDone?.(asset.id);
        } catch (error) {
          if (stop.signal.aborted) this.#outcomes.set(asset.id, { isStopped: true });
          else if (!signal.aborted) this.#outcomes.set(asset.id, { failure: messageOf(error) });
          if (!stop.signal.aborted) throw error;
        } finally {
          this.#work.delete(asset.id);
        }
      })(),
    };
    work.done.catch(ignore); // the callers that wait receive the error
    this.#outcomes.delete(asset.id);
    this.#work.set(asset.id, work);
    return work;
  }

  /** The asset may have been installed or removed. */
  async #changed(asset: Asset): Promise<void> {
    await this.#recheck(asset);
    await this.#check(this.#declared(asset.id));
  }

  /** Lets the engines look again. */
  async #recheck({ id }: Asset): Promise<void> {
    await Promise.all(this.#declaringOf(id).map(async ({ recheck }) => recheck?.()));
  }

  #declaringOf(id: string): readonly Declaring[] {
    return this.#declaring.filter(({ groups }) => groups.flatMap(allAssetsOf).some((asset) => asset.id === id));
  }

  // ----------------------------------------------------------------------------------------------------------- the list

  #groups(): MergedGroup[] {
    const all = this.#declaring.flatMap(({ capability, groups }) => groups.map((group) => ({ ...group, capability })));
    return [...Map.groupBy(all, ({ id }) => id).values()].flatMap((same) => {
      const main = same.find(({ isConfigured }) => isConfigured) ?? same[0];
      if (!main) return [];
      const { title, ...rest } = main;
      return [
        {
          ...rest,
          ...(title !== undefined && same.length === 1 && { title }),
          assets: unique(same.flatMap(({ assets }) => assets)),
          extras: unique(same.flatMap(({ extras = [] }) => extras)),
        },
      ];
    });
  }

  #declared(id: string): readonly Asset[] {
    return this.#byId.get(id) ?? [];
  }

  #contextOf({ id }: Asset): InstallContext {
    const [owner] = this.#declaringOf(id);
    if (!owner) throw new Error(`no engine declares the asset ${id}`);
    return owner.context;
  }

  async #statusOf(group: MergedGroup): Promise<GroupStatus> {
    const { id, assets, extras = [], capability, isConfigured = false, model, settings } = group;
    const parts = assets.length > 0 ? assets : extras;
    const all = assets.map((asset) => this.#assetStatus(asset));
    const others = this.#groups().filter((one) => one.id !== id && one.isConfigured);
    const isIncluded = others.some((other) => assets.every(({ id }) => other.assets.some((asset) => asset.id === id)));
    const models = this.#modelsIn(group);
    const served = new Set(models.flatMap((one) => (one.settings === undefined ? (one.model ?? []) : [])));
    const left = await Promise.all(all.map(({ asset, state }) => bytesLeftOf(asset, state === 'ready')));
    return {
      ...{ id, capability, configured: isConfigured, isIncluded },
      title: group.title ?? titlesOf([models, assets, extras].find((parts) => parts.length > 0) ?? []),
      purpose: group.purpose ?? models[0]?.purpose ?? '',
      bytes: assets.reduce<number | null>((sum, { bytes }) => (sum === null || bytes === null ? null : sum + bytes), 0),
      bytesLeft: left.reduce((sum, bytes) => sum + bytes, 0),
      license: [...new Set(parts.map(({ license }) => license))].join(', '),
      command: commandOf(group),
      source: [...new Set(assets.map(sourceOf))].join(' and '),
      // Shared assets say nothing about the state of a further model.
      ...withSettings(
        summarize(model !== undefined && all.at(-1)?.state === 'missing' ? all.slice(-1) : all),
        settings,
      ),
      serves: served.size === 1 ? [...served].join() : null,
      ...(model !== undefined && { model }),
      ...(settings !== undefined && { settings }),
    };
  }

  /** The single models that a group contains; for one of them, itself. */
  #modelsIn({ assets, model, id }: MergedGroup): readonly MergedGroup[] {
    const ids = new Set(assets.map((asset) => asset.id));
    return this.#groups().filter((one) =>
      model === undefined ? one.model !== undefined && one.assets.every((asset) => ids.has(asset.id)) : one.id === id,
    );
  }

  #assetStatus(asset: Asset): AssetStatus {
    const work = this.#work.get(asset.id);
    if (work) return { asset, state: 'preparing', reason: describe(work.step), progress: work.step.done };
    const { isReady, elsewhere } = this.#found.get(asset.id) ?? unchecked;
    const as = (state: AssetState, reason: string) => ({ asset, state, reason, progress: null });
    if (isReady === true) return as('ready', 'Ready.');
    if (elsewhere) {
      const { done } = elsewhere;
      return { asset, state: 'preparing', reason: describe({ doing: waitingFor(asset), done }), progress: done };
    }
    if (isReady !== false) return as('failed', `Could not check ${asset.title}: ${messageOf(isReady)}.`);
    const outcome = this.#outcomes.get(asset.id);
    if (!outcome) return as('missing', 'Not installed.');
    if ('failure' in outcome) return as('failed', `${asset.title} is not installed: ${outcome.failure}.`);
    return as('missing', 'Stopped. The partial download is kept.');
  }

  #commandFor({ id }: Asset): string {
    const groups = this.#groups().filter((group) => allAssetsOf(group).some((asset) => asset.id === id));
    const group = groups.find(({ isConfigured }) => isConfigured) ?? groups[0];
    return group === undefined ? setupCommand : commandOf(group);
  }

  #tryAgain(asset: Asset): string {
    return `Run \`${this.#commandFor(asset)}\` to try again.`;
  }

  #howToGet(asset: Asset): string {
    const command = this.#commandFor(asset);
    const obstacle = obstacleOf(asset);
    if (obstacle !== undefined) return `${asset.title} is not installed, and ${obstacle}, then \`${command}\`.`;
    return `${asset.title} is not installed: run \`${command}\`.`;
  }
}

const commandOf = ({ id, isAutomatic }: AssetGroup): string => (isAutomatic ? setupCommand : nameSetup(id));

const obstacleOf = (asset: Asset): string | undefined => (asset.kind === 'made' ? asset.obstacle?.() : undefined);
/** Resolves with an error if an engine cannot tell. */
async function isReadyFor(declared: readonly Asset[]): Promise<boolean | Error> {
  try {
    for (const asset of declared) {
      const answer = asset.isReady();
      if (!(typeof answer === 'boolean' ? answer : await within(readyMs, () => answer))) return false;
    }
    return true;
  } catch (error) {
    return error as Error;
  }
}

/** Merges the states of several assets. */
function summarize(all: readonly AssetStatus[]): Pick<GroupStatus, 'state' | 'reason' | 'progress'> {
  const inState = (state: AssetState) => all.filter((one) => one.state === state);
  const [preparing, failed, missing] = [inState('preparing'), inState('failed'), inState('missing')];
  const why = failed.map(({ reason }) => reason);
  if (preparing.length > 0) {
    const known = preparing.flatMap(({ progress }) => progress ?? []);
    const progress = known.length === 0 ? null : known.reduce((sum, done) => sum + done, 0) / preparing.length;
    const steps = preparing.map(({ reason }) => reason).join(', ');
    return { state: 'preparing', reason: [`Installing (${steps}).`, ...why].join(' '), progress };
  }
  if (failed.length > 0) return { state: 'failed', reason: why.join('\n'), progress: null };
  const stopped = missing.find(({ reason }) => reason !== 'Not installed.') ?? missing[0];
  if (stopped) return { state: 'missing', reason: stopped.reason, progress: null };
  return { state: 'ready', reason: 'Ready.', progress: null };
}

function withSettings<S extends Pick<GroupStatus, 'state' | 'reason'>>(status: S, settings: string | undefined): S {
  if (status.state !== 'ready' || settings === undefined) return status;
  return { ...status, reason: `Installed. To use it, add this to the settings file and restart:\n${settings}` };
}

function titlesOf(parts: readonly { readonly title?: string }[]): string {
  const titles = parts.map(({ title = '' }) => title);
  return [titles.slice(0, -1).join(', '), ...titles.slice(-1)].filter((title) => title !== '').join(' and ');
}

const describe = ({ doing, done }: Step) => (done === null ? doing : `${doing}: ${Math.floor(done * 100)} %`);

const assetsOf = (
  group: AssetGroup | undefined,
  { isExplicit = false }: Pick<InstallRequest, 'isExplicit'>,
): readonly Asset[] => (group ? [...group.assets, ...(isExplicit ? (group.extras ?? []) : [])] : []);

const allAssetsOf = (group: AssetGroup) => assetsOf(group, { isExplicit: true });

const unique = (assets: readonly Asset[]): Asset[] => [...new Map(assets.toReversed().map((asset) => [asset.id, asset])).values()].toReversed(); // prettier-ignore
