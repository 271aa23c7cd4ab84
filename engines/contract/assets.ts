/**
 * Something on this disk that models need. An engine declares it; the service downloads, installs or lets it be made, says
 * how far it is, and removes it.
 */
export type Asset = FilesAsset | PackagesAsset | MadeAsset;

interface AssetFacts {
  /** Letters, digits, dots, hyphens and underscores. Engines that declare the same id share the asset. */
  readonly id: string;
  /** For people, such as `Whisper base`. */
  readonly title: string;
  /** Size of the download; null if unknown. */
  readonly bytes: number | null;
  /** Licence of the download, such as `MIT` or `GPL-3.0`. */
  readonly licence: string;
  /** Whether it can be used now. Called for every listing and every request: it takes milliseconds. Timeout: 1 s. */
  isReady(): boolean | Promise<boolean>;
  /** Called when it may have been installed or removed: forget what `isReady` remembers. */
  changed?(): void | Promise<void>;
}

/** Files of a model. What somebody else has put in their place is used, and neither replaced nor removed. */
export interface FilesAsset extends AssetFacts {
  readonly kind: 'files';
  /** In the order in which they are downloaded. */
  readonly files: readonly AssetFile[];
}

export interface AssetFile {
  readonly url: string;
  /** Absolute, below the data directory. */
  readonly path: string;
  /** Its size, which may be rounded to whole MiB. */
  readonly bytes: number;
  /** MD5, SHA-1 or SHA-256 in hex, whichever upstream publishes: its length tells which. */
  readonly digest: string;
}

/** A library: packages of npm, as a lock file names them. Their scripts are not run. */
export interface PackagesAsset extends AssetFacts {
  readonly kind: 'packages';
  readonly name: string;
  readonly version: string;
  /** Folder with a package.json and a package-lock.json, for this platform. */
  readonly manifest: string;
  /** Where it is installed: `NAME-VERSION-DIGEST`. Others of this name beside it are older and deleted. */
  readonly directory: string;
  /** Below node_modules: must exist after the installation, and are loaded once in a process of their own. */
  readonly files: readonly string[];
}

/** Something that the engine makes itself, such as a program that is built from its source. */
export interface MadeAsset extends AssetFacts {
  readonly kind: 'made';
  /** The work, as progress messages name it. */
  readonly verb: 'building' | 'downloading';
  /** Where it comes from, such as `npm`. */
  readonly source: string;
  /** Where it is put. */
  readonly path: string;
  /** Why it cannot be made on this machine and how to change that, as a sentence without a full stop. */
  obstacle?(): string | undefined;
  /**
   * Only one process makes it at a time. Rejects with an error for the operator, or with the signal's reason. After an abort
   * it has 5 s to end.
   */
  make(call: MakeCall): Promise<void>;
}

export interface MakeCall {
  readonly signal: AbortSignal;
  /** 0 to 1, or null while that is unknown. */
  readonly progress: (fraction: number | null) => void;
}

/** Assets that the operator installs by one name: `npm run setup -- voice`. */
export interface AssetGroup {
  /** As the id of an asset. Groups of several engines with the same id are one. */
  readonly id: string;
  readonly assets: readonly Asset[];
  /** Better to have: installed with the others where the operator asks for the group. */
  readonly extras?: readonly Asset[];
  /** Default: the titles of its assets. */
  readonly title?: string;
  /** The models of the settings need it. Default: a further model or voice. */
  readonly isConfigured?: boolean;
  /** A start installs it, and so does `npm run setup` without a name. Default: only who names it gets it. */
  readonly atStart?: boolean;
  /** For a single model: its id in requests, once it is there. The last of `assets` is the model, and can be removed. */
  readonly model?: string;
  /** For a single model that is not served without it: the line for the settings file. */
  readonly settings?: string;
}
