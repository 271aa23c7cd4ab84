/**
 * The assets of all engines, and the state of each. Commands, the API, model availability and startup all read them
 * from here.
 */
import type { Asset, Availability, Capability, ModelEntry } from '../../../engines/contract/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import { within } from '../guard/within.ts';
import { assetsOf, Declarations, unique, type Declaring, type MergedGroup } from './declarations.ts';
import { statusOfGroup, summarize, type AssetState, type AssetStatus, type GroupStatus } from './group-status.ts';
import { downloadedOf, isBusyElsewhere, waitingFor, type InstallStep } from './install.ts';
import { Installations, type InstallEvents } from './installations.ts';
import { removeDownloads } from './receipts.ts';

export interface InstallRequest {
  /** Id of a group. If absent, the request is for the automatic groups. */
  readonly id?: string | undefined;
  /** Ids of additional groups, used only without `id`. */
  readonly also?: readonly string[];
  /** True with TRANSCRIBE_SETUP=off or TRANSCRIBE_ENABLED=false. */
  readonly withoutTranscription?: boolean;
  /** True if the operator requested the groups explicitly. Their optional assets are then installed as well. */
  readonly isExplicit?: boolean;
}

/** An asset that is not ready. */
interface LackingAsset extends AssetStatus {
  /** Why the asset cannot be created on this machine and how to change that, as a sentence without a period. */
  readonly obstacle: string | undefined;
  /** The command that installs the asset. */
  readonly command: string;
}

interface Found {
  /** An Error if the check itself failed. */
  readonly isReady: boolean | Error;
  /**
   * The fraction that another process has installed, from 0 to 1, or null if unknown; undefined if no other process is
   * installing the asset.
   */
  readonly elsewhere: { readonly done: number | null } | undefined;
}

const unchecked: Found = { isReady: false, elsewhere: undefined };

const readyMs = 1_000;

export class Assets {
  readonly #declarations = new Declarations();
  readonly #installations = new Installations(this.#declarations, (asset) => this.#changed(asset));
  /** The result of the last check of each asset. */
  readonly #found = new Map<string, Found>();

  declare(engine: Declaring): void {
    this.#declarations.add(engine);
  }

  // ----------------------------------------------------------------------------------------------------- states

  /** Checks which assets are installed, and updates their states. Never rejects. */
  async check(): Promise<void> {
    await Promise.all(this.#declarations.all.map((same) => this.#check(same)));
  }

  async #check([asset, ...others]: readonly Asset[]): Promise<void> {
    if (!asset) return;
    const isReady = await isReadyFor([asset, ...others]);
    const own = this.#installations.running;
    const elsewhere = isReady !== true && isBusyElsewhere(asset, own) ? { done: await downloadedOf(asset) } : undefined;
    this.#found.set(asset.id, { isReady, elsewhere });
  }

  readonly #assetStatus = (asset: Asset): AssetStatus => {
    const step = this.#installations.stepOf(asset.id);
    if (step) return { asset, state: 'preparing', reason: reasonOf(step), progress: step.done };
    const { isReady, elsewhere } = this.#found.get(asset.id) ?? unchecked;
    const as = (state: AssetState, reason: string) => ({ asset, state, reason, progress: null });
    if (isReady === true) return as('ready', 'Ready.');
    if (elsewhere) {
      const { done } = elsewhere;
      return { asset, state: 'preparing', reason: reasonOf({ doing: waitingFor(asset), done }), progress: done };
    }
    if (isReady !== false) return as('failed', `Could not check ${asset.title}: ${messageOf(isReady)}.`);
    const outcome = this.#installations.outcomeOf(asset.id);
    if (!outcome) return as('missing', 'Not installed.');
    if ('failure' in outcome) return as('failed', `${asset.title} is not installed: ${outcome.failure}.`);
    return as('missing', 'Stopped. The partial download is kept.');
  };

  #isReady({ id }: Pick<Asset, 'id'>): boolean {
    return this.#found.get(id)?.isReady === true;
  }

  /** Lists the groups. Groups that the settings require come first. */
  async list(): Promise<GroupStatus[]> {
    const groups = this.#declarations.groups();
    const statuses = await Promise.all(groups.map(this.#statusOf));
    return [...statuses.filter(({ configured }) => configured), ...statuses.filter(({ configured }) => !configured)];
  }

  async find(id: string): Promise<GroupStatus | undefined> {
    const group = this.#declarations.groups().find((one) => one.id === id);
    return group && this.#statusOf(group);
  }

  readonly #statusOf = (group: MergedGroup) => statusOfGroup(group, this.#declarations, this.#assetStatus);

  /** Returns the assets of an engine that are required but not ready. */
  lackingOf(instance: string): readonly LackingAsset[] {
    const assets = this.#declarations.configuredFor(instance);
    const lacking = assets.map(this.#assetStatus).filter(({ state }) => state !== 'ready');
    const commandFor = (asset: Asset) => this.#declarations.commandFor(asset);
    return lacking.map((one) => ({ ...one, obstacle: obstacleOf(one.asset), command: commandFor(one.asset) }));
  }

  /** Returns why an entry cannot be used because of its assets; undefined if they are ready. */
  availabilityOf({ needs = [] }: Pick<ModelEntry, 'needs'>): Availability | undefined {
    if (needs.every((id) => this.#isReady({ id }) && !this.#installations.stepOf(id))) return undefined;
    const needed = needs.flatMap((id) => this.#declarations.of(id)[0] ?? []);
    const lacking = needed.map(this.#assetStatus).filter(({ state }) => state !== 'ready');
    const [first] = lacking;
    if (!first) return undefined;
    const failed = lacking.find(({ state }) => state === 'failed');
    if (!failed && lacking.some(({ state }) => state === 'preparing')) {
      const { reason, progress } = summarize(lacking);
      return { available: false, code: 'preparing', reason, ...(progress !== null && { progress }) };
    }
    const { asset, reason } = failed ?? first;
    const code = asset.kind === 'files' ? 'model-file-missing' : 'program-missing';
    const tryAgain = `Run \`${this.#declarations.commandFor(asset)}\` to try again.`;
    return { available: false, code, reason: failed ? `${reason} ${tryAgain}` : this.#howToGet(asset) };
  }

  // ------------------------------------------------------------------------------------------------------- installation

  /**
   * Installs the missing assets of the request: one after the other, with model files concurrent to all others. A failure
   * does not stop the others. Resolves with the failures; rejects with the signal's reason.
   */
  async install(request: InstallRequest, events: InstallEvents): Promise<Error[]> {
    await this.check();
    const groups = this.#requested(request);
    const assets = unique(groups.flatMap((group) => assetsOf(group, request)));
    const missing = assets.filter((asset) => !this.#isReady(asset));
    const groupsOf = (asset: Asset) => groups.filter((group) => assetsOf(group, request).includes(asset));
    return this.#installations.run(missing, (asset) => groupsOf(asset).map(({ id }) => id), events);
  }

  /**
   * Stops the installation of the group and resolves when it has ended. Assets that other groups need continue to be
   * installed.
   */
  async stop(id: string): Promise<void> {
    await this.#installations.stop(id);
  }

  /**
   * Unloads and removes a downloaded model. Resolves with false if the model is not installed. Rejects with the reason
   * if it cannot be removed.
   */
  async remove(id: string, signal: AbortSignal): Promise<boolean> {
    const group = this.#declarations.groups().find((one) => one.id === id && one.model !== undefined);
    const asset = group?.assets.at(-1);
    if (asset?.kind !== 'files') throw new Error('it is not a single model');
    const { dataDir } = this.#declarations.contextOf(asset);
    const paths = asset.files.map(({ path }) => path);
    const isRemoved = await removeDownloads(dataDir, paths, signal);
    await this.#changed(asset);
    return isRemoved;
  }

  /** Returns the groups that the request selects. */
  #requested({ id, also = [], withoutTranscription = false }: InstallRequest): MergedGroup[] {
    if (id !== undefined) return this.#declarations.groups().filter((group) => group.id === id);
    return this.#declarations
      .groups()
      .filter(
        ({ id, isAutomatic, capability }) =>
          (isAutomatic === true && !(withoutTranscription && capability === 'transcription')) || also.includes(id),
      );
  }

  /** Returns the assets that `install` would install, to show to the operator. */
  missing(request: InstallRequest): readonly { readonly asset: Asset; readonly capability: Capability }[] {
    const seen = new Set<string>();
    return this.#requested(request).flatMap((group) =>
      assetsOf(group, request).flatMap((asset) => {
        if (this.#isReady(asset) || seen.has(asset.id)) return [];
        seen.add(asset.id);
        return { asset, capability: group.capability };
      }),
    );
  }

  /** Called when the asset may have been installed or removed. */
  async #changed(asset: Asset): Promise<void> {
    await this.#declarations.recheck(asset);
    await this.#check(this.#declarations.of(asset.id));
  }

  #howToGet(asset: Asset): string {
    const command = this.#declarations.commandFor(asset);
    const obstacle = obstacleOf(asset);
    if (obstacle !== undefined) return `${asset.title} is not installed, and ${obstacle}, then \`${command}\`.`;
    return `${asset.title} is not installed: run \`${command}\`.`;
  }
}

const obstacleOf = (asset: Asset): string | undefined => (asset.kind === 'made' ? asset.obstacle?.() : undefined);

/** Resolves with an error if an engine's check fails. */
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

const reasonOf = ({ doing, done }: InstallStep) => (done === null ? doing : `${doing}: ${Math.floor(done * 100)} %`);
