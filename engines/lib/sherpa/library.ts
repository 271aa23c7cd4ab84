/**
 * Finds sherpa-onnx on this machine (in the settings, beside this package, or installed by the service), and checks it
 * in its own process.
 */
import { EngineError, type EngineContext, type Finding, type PackagesAsset } from '../../contract/index.ts';
import { nameSetup } from '../../../lib/setup-command.ts';
import { cached } from '../cached.ts';
import { checkRuntime, findRuntime, lacks, runtimeOf } from './runtime.ts';

export interface LibraryOptions {
  /**
   * The option `runtime`: a directory with `node_modules/sherpa-onnx-node`. Defaults to VOICE_RUNTIME if not specified.
   */
  readonly runtime: string | undefined;
  /** Id of its asset group: `npm run setup -- ID` installs it. */
  readonly part: string;
}

/** The directory that the settings name. */
export function namedRuntime(option: string | undefined, { env }: Pick<EngineContext, 'env'>): string | undefined {
  return option ?? (env.VOICE_RUNTIME === '' ? undefined : env.VOICE_RUNTIME);
}

export type Library = ReturnType<typeof openLibrary>;

export function openLibrary({ runtime, part }: LibraryOptions, context: EngineContext) {
  const named = namedRuntime(runtime, context);
  const search = cached(() => {
    const found = findRuntime(named, context);
    return { found, lacking: found && lacks(found) };
  }, context.now);
  const place = () => search().found;
  /** Why the last attempt to load it failed. */
  let problem: string | undefined;

  const packages = named === undefined ? runtimeOf(context) : undefined;
  const asset: PackagesAsset | undefined = packages && {
    ...packages,
    ...{ id: 'sherpa-onnx', title: `sherpa-onnx ${packages.version}`, bytes: 33_400_000 },
    license: 'GPL-3.0', // it contains eSpeak NG, although the package declares another license
    isReady: () => place() !== undefined,
    changed: () => search.forget(),
  };

  /** Returns a sentence about what is missing. Answers from memory. */
  function missing(): string | undefined {
    const { found, lacking } = search();
    if (found === undefined) return notFound(named, part);
    if (lacking !== undefined) return `${lacking}.`;
    return problem === undefined ? undefined : `sherpa-onnx could not be loaded: ${problem}.`;
  }

  async function check() {
    const found = place();
    if (found === undefined) return undefined;
    const checked = await checkRuntime(found, context);
    problem = 'problem' in checked ? checked.problem : undefined;
    return { place: found, ...checked };
  }

  return {
    missing,
    /** Undefined if the settings name the directory, or if upstream has no binary for this platform. */
    asset,
    /** Resolves with the directory of the package. Rejects with `model-unavailable`. */
    async open(): Promise<string> {
      if (problem !== undefined) await check(); // the operator may have fixed it
      const [reason, found] = [missing(), place()];
      if (reason === undefined && found !== undefined) return found;
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
      const found = await check();
      if (found === undefined && asset) return [];
      const version = found && 'version' in found ? `${found.version}, ${found.place}` : undefined;
      return [{ what: 'sherpa-onnx', ok: version !== undefined, detail: version ?? missing() ?? '' }];
    },
  };
}

function notFound(named: string | undefined, part: string): string {
  if (named !== undefined) return `sherpa-onnx-node not found: ${named} has no node_modules/sherpa-onnx-node.`;
  return `sherpa-onnx-node not found: run \`${nameSetup(part)}\` to install it (33 MB), or set VOICE_RUNTIME to a directory with node_modules/sherpa-onnx-node.`; // prettier-ignore
}
