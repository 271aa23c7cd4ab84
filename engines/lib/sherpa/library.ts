/**
 * Finds sherpa-onnx on this machine (in the directory that the settings name, next to this package, or installed by the
 * service), and checks it in a separate process.
 */
import { EngineError, type EngineContext, type Finding, type PackagesAsset } from '../../contract/index.ts';
import { nameSetup } from '../../../lib/setup-command.ts';
import { checkRuntime, findBinary, findRuntime, runtimeOf } from './runtime.ts';

export interface LibraryOptions {
  /**
   * The option `runtime`: a directory with `node_modules/sherpa-onnx-node`. Defaults to VOICE_RUNTIME if not specified.
   */
  readonly runtime: string | undefined;
  /** Id of the asset group with the library: `npm run setup -- ID` installs it. */
  readonly part: string;
}

/** Returns the directory that the settings name; undefined if they name none. */
export function namedRuntime(option: string | undefined, { env }: Pick<EngineContext, 'env'>): string | undefined {
  return option ?? (env.VOICE_RUNTIME === '' ? undefined : env.VOICE_RUNTIME);
}

export type Library = ReturnType<typeof openLibrary>;

/** Milliseconds for which a library that could not be loaded counts as unusable, unless its binary is replaced. */
const problemMs = 60_000;

export function openLibrary({ runtime, part }: LibraryOptions, context: EngineContext) {
  const named = namedRuntime(runtime, context);
  const packages = named === undefined ? runtimeOf(context) : undefined;
  let found = search();
  /** Why the last attempt to load the library failed. */
  let problem: { readonly text: string; readonly until: number; readonly stamp: string } | undefined;

  const asset: PackagesAsset | undefined = packages && {
    ...packages,
    ...{ id: 'sherpa-onnx', title: `sherpa-onnx ${packages.version}`, bytes: 33_400_000 },
    license: 'GPL-3.0', // it contains eSpeak NG, although the package declares another license
    isReady: () => found !== undefined,
  };

  function search() {
    const place = findRuntime(named ?? packages, context);
    return place === undefined ? undefined : { place, lacking: undefined, stamp: '', ...findBinary(place) };
  }

  /** Returns a sentence about what is missing or wrong; undefined if nothing is. Does no I/O. */
  function missing(): string | undefined {
    if (found === undefined) return notFound(named, part);
    if (found.lacking !== undefined) return `${found.lacking}.`;
    return problem && `sherpa-onnx could not be loaded: ${problem.text}.`;
  }

  async function check() {
    if (found === undefined) return undefined;
    const { place, stamp } = found;
    const checked = await checkRuntime(place, context);
    problem = 'problem' in checked ? { text: checked.problem, until: context.now() + problemMs, stamp } : undefined;
    return { place, ...checked };
  }

  return {
    missing,
    /** Returns what is missing or wrong; undefined if installing the asset would fix it. */
    problem: () => (asset && found === undefined ? undefined : missing()),
    /** Searches for the library again. */
    look(): void {
      found = search();
      if (problem && (problem.stamp !== found?.stamp || context.now() >= problem.until)) problem = undefined;
    },
    /** Undefined if the settings name the directory, or if upstream has no binary for this platform. */
    asset,
    /** Returns the directory of the package. Throws `model-unavailable`. */
    open(): string {
      const reason = missing();
      if (reason === undefined && found !== undefined) return found.place;
      throw new EngineError('model-unavailable', reason ?? notFound(named, part));
    },
    /** Returns the failure of a call, or the problem of the library if that is the cause. */
    async explain(error: unknown): Promise<unknown> {
      if (!EngineError.is(error) || error.code !== 'engine-failed') return error;
      await check();
      const reason = missing();
      return reason === undefined ? error : new EngineError('model-unavailable', reason, { cause: error });
    },
    /** Reports nothing if it is missing and the service can install it: the service then reports the asset. */
    async inspect(): Promise<Finding[]> {
      const checked = await check();
      if (checked === undefined && asset) return [];
      const version = checked && 'version' in checked ? `${checked.version}, ${checked.place}` : undefined;
      return [{ what: 'sherpa-onnx', ok: version !== undefined, detail: version ?? missing() ?? '' }];
    },
  };
}

function notFound(named: string | undefined, part: string): string {
  if (named !== undefined) return `sherpa-onnx-node not found: ${named} has no node_modules/sherpa-onnx-node.`;
  return `sherpa-onnx-node not found: run \`${nameSetup(part)}\` to install it (33 MB), or set VOICE_RUNTIME to a directory with node_modules/sherpa-onnx-node.`;
}
