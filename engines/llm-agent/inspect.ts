/** Checks for the doctor and at startup whether the provider answers and lists the models of the settings. */
import { EngineError, type Finding } from '../contract/index.ts';
import { didYouMean } from '../../lib/did-you-mean.ts';
import { joinFirst } from '../../lib/listing.ts';
import { fetchModelList } from '../lib/provider/fetch-list.ts';
import { askForList, describeAnswer, describeFailure, describeProvider } from '../lib/provider/inspect.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { createListFilter, readModels, type ListedModel } from './discovery.ts';
import type { Options } from './options.ts';

/** `isDiscovering`: the engine serves the provider's list, so the provider must have one. */
export async function inspectChat(
  options: Options,
  instance: string,
  provider: Provider,
  isDiscovering: boolean,
): Promise<Finding[]> {
  const finding = describeProvider(options, instance);
  if (!finding.ok) return [finding];
  try {
    if (!isDiscovering) {
      const listed = await readIfListed(provider);
      return [describeAnswer(finding, listed), ...(listed ? describeUnlisted(options, idsOf(listed)) : [])];
    }
    const listed = readModels(await fetchModelList(provider), provider);
    const { length } = createListFilter(options.modelFilter)(listed);
    const detail = `${finding.detail}, serves ${length} of its models`;
    return [{ ...finding, ok: length > 0, detail }, ...describeUnlisted(options, idsOf(listed))];
  } catch (error) {
    const state = isDiscovering ? ', does not list its models' : '';
    return [describeFailure({ ...finding, detail: finding.detail + state }, error)];
  }
}

/** Resolves with undefined if the provider has no list. Some providers send something else at this path. */
async function readIfListed(provider: Provider): Promise<readonly ListedModel[] | undefined> {
  const text = await askForList(provider);
  try {
    return text === undefined ? undefined : readModels(text, provider);
  } catch (error) {
    const isNoList = EngineError.is(error) && error.code === 'provider-bad-response';
    if (isNoList && error.forOperator === undefined) return undefined;
    throw error;
  }
}

const namesShown = 5;

const idsOf = (listed: readonly ListedModel[]) => listed.map(({ id }) => id);

/**
 * Returns a warning for each model of the settings that the provider does not list. Some providers serve models that
 * they do not list.
 */
function describeUnlisted({ models = [] }: Options, listed: readonly string[]): Finding[] {
  const isListed = createListCheck(listed);
  return models.flatMap((model) => {
    const { id, remoteId = id } = typeof model === 'string' ? { id: model } : model;
    if (isListed(remoteId)) return [];
    const detail = `the provider does not list ${remoteId}`;
    return [{ what: `model ${id}`, ok: true, detail, fix: fixFor(remoteId, listed) }];
  });
}

function fixFor(wrong: string, listed: readonly string[]): string {
  if (listed.length === 0) return 'install a model there: it lists none';
  const names = listed.map((id) => id.replace(/:latest$/, ''));
  const meant = didYouMean(wrong, names);
  return meant === undefined
    ? `name a model that it lists: ${joinFirst(listed, namesShown)}`
    : `did you mean ${meant}?`;
}

/** Ollama lists tags and ignores case, Google lists models/ID, and OpenRouter serves variants such as ID:online. */
function createListCheck(listed: readonly string[]): (id: string) => boolean {
  const plain = (id: string) => id.toLowerCase().replace(/^models\//, '');
  const ids = new Set(listed.map(plain));
  return (id) => {
    const wanted = plain(id);
    return [wanted, `${wanted}:latest`, wanted.replace(/:[^:]*$/, '')].some((form) => ids.has(form));
  };
}
