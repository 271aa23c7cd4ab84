/**
 * Something on this disk that models need: model files, a library or a program. An engine declares it; the service
 * installs it, reports the progress, and removes it.
 */
export type Asset = FilesAsset | PackagesAsset | MadeAsset;

/** Members of every asset. */
interface AssetFacts {
  /**
   * 1 to 64 letters, digits, dots, hyphens and underscores; the first is a letter or digit. Engines that declare the
   * same id share the asset.
   */
  readonly id: string;
  /** Display name, such as `Whisper base`. */
  readonly title: string;
  /** Size of the download; null if unknown. */
  readonly bytes: number | null;
  /** License of the download, such as `MIT` or `GPL-3.0`. */
  readonly license: string;
  /** Whether the asset can be used now. Called after each `recheck` of the engine. Timeout: 1 s. */
  isReady(): boolean | Promise<boolean>;
}

/**
 * Files of a model. Files that the operator put there are used and never removed. An installation replaces one only if
 * the asset is not ready and the file has another digest.
 */
export interface FilesAsset extends AssetFacts {
  readonly kind: 'files';
  /** The files, in the order of download. */
  readonly files: readonly AssetFile[];
  /** Estimated memory of the loaded model, in bytes. Absent if unknown. */
  readonly memory?: number;
}

/** One file of a `FilesAsset`. */
export interface AssetFile {
  /** The URL of the download. */
  readonly url: string;
  /** Absolute path below the data directory. */
  readonly path: string;
  /** Size of the file, which may be rounded to whole MiB. */
  readonly bytes: number;
  /** MD5, SHA-1 or SHA-256 in hex, whichever upstream publishes. The length of the digest identifies the algorithm. */
  readonly digest: string;
}

/** A library: npm packages, pinned by a lock file. Their install scripts are not run. */
export interface PackagesAsset extends AssetFacts {
  readonly kind: 'packages';
  /** Name of the library, such as `sherpa-onnx`. */
  readonly name: string;
  /** Version of the library. */
  readonly version: string;
  /** Folder with the package.json and the package-lock.json for this platform. */
  readonly manifest: string;
  /**
   * The installation directory: `NAME-VERSION-DIGEST`. Other directories of the same library next to it are deleted.
   */
  readonly directory: string;
  /**
   * Paths below node_modules. After the installation, they must exist, and a separate process must be able to load
   * them.
   */
  readonly files: readonly string[];
}

/** An asset that the engine creates itself, such as a program that is built from source. */
export interface MadeAsset extends AssetFacts {
  readonly kind: 'made';
  /** The verb in progress messages. */
  readonly verb: 'building' | 'downloading';
  /** The source of the asset, such as `npm`. */
  readonly source: string;
  /** The path of the finished asset. */
  readonly path: string;
  /**
   * Returns why the asset cannot be created on this machine and how to fix that, as a sentence without a period;
   * undefined if it can be created.
   */
  obstacle?(): string | undefined;
  /**
   * Creates the asset. Only one process creates an asset at a time. Rejects with an error for the operator, or with the
   * signal's reason. After an abort, the call has 5 s to settle.
   */
  make(call: MakeCall): Promise<void>;
}

/** Arguments of `MadeAsset.make`. */
export interface MakeCall {
  /** Aborts when the operator stops the installation, and at shutdown. */
  readonly signal: AbortSignal;
  /** Reports how much is done, from 0 to 1, or null while that is unknown. */
  readonly progress: (fraction: number | null) => void;
}

/** Assets that the operator installs under one name: `npm run setup -- voice`. */
export interface AssetGroup {
  /** As the id of an asset. Groups of several engines with the same id are merged. */
  readonly id: string;
  /**
   * The assets that the group needs, in the order of installation. Model files are installed in parallel with the other
   * kinds.
   */
  readonly assets: readonly Asset[];
  /**
   * Optional assets, installed after the others when the operator names the group. Defaults to none if not specified.
   */
  readonly extras?: readonly Asset[];
  /**
   * Display name. Defaults to the titles of the single-model groups that this group contains, or else of its assets.
   */
  readonly title?: string;
  /**
   * A short sentence that says what the group is good for. Defaults to the purpose of the first single-model group that
   * this group contains if not specified.
   */
  readonly purpose?: string;
  /**
   * True if a model in the settings needs the group; false if it is a further model or voice.
   * @default false
   */
  readonly isConfigured?: boolean;
  /**
   * True if the group is installed at startup and by `npm run setup` without a name. Otherwise, the operator has to
   * name it.
   * @default false
   */
  readonly isAutomatic?: boolean;
  /**
   * For a group with a single model: the id of the model in requests. The last of `assets` is the model, and can be
   * removed.
   */
  readonly model?: string;
  /** For a single model that the settings have to list: the line for the settings file. */
  readonly settings?: string;
}
