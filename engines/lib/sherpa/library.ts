/** sherpa-onnx on this machine: found in the settings, beside us or installed; checked in a program of its own. */
import { EngineError, type EngineContext, type Finding, type PackagesAsset } from '../../contract/index.ts';
import { nameSetup } from '../../../lib/setup-command.ts';
import { cached } from '../cached.ts';
import { checkRuntime, findRuntime, lacks, runtimeOf } from './runtime.ts';

export interface LibraryOptions {
  /** The option `runtime`: a directory with `node_modules/sherpa-onnx-node`. Default: VOICE_RUNTIME. */
  readonly runtime: string | undefined;
  /** Id of its preparation: `npm run setup -- ID` installs it. */
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
  /** Why it could not be loaded when that was last tried. */
  let problem: string | undefined;

  const packages = named === undefined ? runtimeOf(context) : undefined;
  const asset: PackagesAsset | undefined = packages && {
    ...packages,
    ...{ id: 'sherpa-onnx', title: `sherpa-onnx ${packages.version}`, bytes: 33_400_000 },
    licence: 'GPL-3.0', // it contains eSpeak NG, whatever the package says
    isReady: () => place() !== undefined,
    changed: () => search.forget(),
  };

  /** A sentence on what is missing; from memory. */
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
    /** Undefined where the settings name its place, and where upstream has no binary. */
    asset,
    /** The directory of the package. Rejects with `model-unavailable`. */
    async open(): Promise<string> {
      if (problem !== undefined) await check(); // it may have been fixed
      const [reason, found] = [missing(), place()];
      if (reason === undefined && found !== undefined) return found;
      throw new EngineError('model-unavailable', reason ?? notFound(named, part));
    },
    /** The failure of a call, or what is wrong with the library if that is why. */
    async explain(error: unknown): Promise<unknown> {
      if (!EngineError.is(error) || error.code !== 'engine-failed') return error;
      await check();
      const reason = missing();
      return reason === undefined ? error : new EngineError('model-unavailable', reason, { cause: error });
    },
    /** Nothing where it is not there and the service can install it, which then says so. */
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
