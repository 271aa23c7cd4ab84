/** Validates the return values of engines. Throws a `BadAnswer`. */
import {
  availabilityCodes,
  features,
  longestText,
  type Asset,
  type AssetGroup,
  type Availability,
  type Feature,
  type Finding,
  type ModelEntry,
  type Span,
  type SpeakerTurn,
  type TimedText,
  type Transcript,
  type Voice,
} from '../../../engines/contract/index.ts';
import { shorten } from '../../../lib/text.ts';
import { BadAnswer } from './failures.ts';

const mostEntries = 10_000;
const longestId = 256; // as in the contract of the API
const longestLabel = 4_096;

const badId = `.id is not a string of 1 to ${longestId} characters`;
const badName = `.name is not a string of at most ${longestLabel} characters`;

type Fields = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null) throw new BadAnswer(`${what} is not an object`);
  return value as Fields;
}

export function must(kept: boolean, broken: string): asserts kept {
  if (!kept) throw new BadAnswer(broken);
}

export function mustBeText(value: unknown, what: string): asserts value is string {
  // The messages are built only on failure, because every chat event is checked here.
  if (typeof value !== 'string') throw new BadAnswer(`${what} is not a string`);
  if (value.length > longestText) throw new BadAnswer(`${what} has more than ${longestText} characters`);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestId;
}

/**
 * Returns the list, or `last` if it is equal, so that callers can cache by identity. Duplicate ids are handled by the
 * registry, which also knows the other instances.
 */
export function checkModels(value: unknown, last: readonly ModelEntry[] = []): readonly ModelEntry[] {
  return checkList(value, last, '`models()`', checkEntry);
}

function checkList<T>(
  value: unknown,
  last: readonly T[],
  what: string,
  check: (item: Fields, last: T | undefined) => T,
): readonly T[] {
  must(Array.isArray(value), `${what} did not return an array`);
  const items = value as readonly unknown[];
  const { length } = items;
  must(length <= mostEntries, `${what} returned more than ${mostEntries} entries`);
  let changed: T[] | undefined;
  let index = 0;
  try {
    for (; index < length; index++) {
      const checked = check(objectOf(items[index], ''), last[index]);
      if (changed === undefined && checked !== last[index]) changed = last.slice(0, index);
      changed?.push(checked);
    }
  } catch (error) {
    // The messages are built only on failure, because every request reads the list.
    throw error instanceof BadAnswer ? new BadAnswer(`${what}[${index}]${error.message}`) : error;
  }
  return changed ?? (length === last.length ? last : last.slice(0, length));
}

function checkEntry(item: Fields, last: ModelEntry | undefined): ModelEntry {
  const { id, name, local, mayBeLocal, discovered, isExplicitOnly, needs: needed, supports: listed, languages: spoken, voices: given, defaultVoice } = item; // prettier-ignore
  must(isId(id), badId);
  must(typeof local === 'boolean', '.local is not a boolean');
  must(mayBeLocal === undefined || typeof mayBeLocal === 'boolean', '.mayBeLocal is not a boolean');
  must(name === undefined || isText(name), badName);
  must(discovered === undefined || typeof discovered === 'boolean', '.discovered is not a boolean');
  must(defaultVoice === undefined || isId(defaultVoice), '.defaultVoice is not an id');
  must(isExplicitOnly === undefined || typeof isExplicitOnly === 'boolean', '.isExplicitOnly is not a boolean');
  const needs = needed === undefined ? undefined : checkIds(needed, last?.needs, '.needs');
  const supports = listed === undefined ? undefined : checkFeatures(listed, last?.supports);
  const languages = spoken === undefined ? undefined : checkIds(spoken, last?.languages, '.languages');
  const voices = given === undefined ? undefined : checkList(given, last?.voices ?? [], '.voices', checkVoice);
  const isSame =
    last?.id === id &&
    last.name === name &&
    last.local === local &&
    last.mayBeLocal === mayBeLocal &&
    last.discovered === discovered &&
    last.isExplicitOnly === isExplicitOnly &&
    last.needs === needs &&
    last.supports === supports &&
    last.languages === languages &&
    last.voices === voices &&
    last.defaultVoice === defaultVoice;
  if (isSame) return last;
  return {
    id,
    local,
    ...(mayBeLocal !== undefined && { mayBeLocal }),
    ...(name !== undefined && { name }),
    ...(discovered !== undefined && { discovered }),
    ...(isExplicitOnly !== undefined && { isExplicitOnly }),
    ...(needs !== undefined && { needs }),
    ...(supports !== undefined && { supports }),
    ...(languages !== undefined && { languages }),
    ...(voices !== undefined && { voices }),
    ...(defaultVoice !== undefined && { defaultVoice }),
  };
}

/** Returns `last` if it is equal. Features of later versions of the contract are dropped. */
function checkFeatures(value: unknown, last: readonly Feature[] | undefined): readonly Feature[] {
  must(Array.isArray(value), '.supports is not an array');
  const given: readonly unknown[] = value;
  if (last && isSameList(given, last)) return last; // the case of nearly every request
  const known = features.filter((feature) => given.includes(feature));
  return last && isSameList(known, last) ? last : known;
}

/** Returns `last` if it is equal. */
function checkIds(value: unknown, last: readonly string[] | undefined, what: string): readonly string[] {
  must(Array.isArray(value) && value.every(isId), `${what} is not an array of ids`);
  const given = value as readonly string[];
  return last && isSameList(given, last) ? last : given;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function checkVoice(item: Fields, last: Voice | undefined): Voice {
  const { id, name, language } = item;
  must(isId(id), badId);
  must(isText(name), badName);
  must(language === null || isText(language), '.language is neither a string nor null');
  if (last?.id === id && last.name === name && last.language === language) return last;
  return { id, name, language };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestLabel;
}

export function checkAvailability(value: unknown): Availability {
  const { available, code, reason, progress } = objectOf(value, 'what `availability()` returned');
  must(typeof available === 'boolean', '`availability()` returned an `available` that is not a boolean');
  const isKnown = (availabilityCodes as readonly unknown[]).includes(code);
  must(isKnown, '`availability()` returned an unknown code');
  must(typeof reason === 'string', '`availability()` returned no reason');
  const isFraction = progress === undefined || (isAmount(progress) && progress <= 1);
  must(isFraction, '`availability()` returned a `progress` that is not a number from 0 to 1');
  return { ...(value as Availability), reason: shorten(reason, longestLabel) };
}

export function checkTranscript(value: unknown): Transcript {
  const { text, language, durationMs, segments, words, turns } = objectOf(value, 'the transcript');
  mustBeText(text, 'the text of the transcript');
  must(language === null || isText(language), 'the language of the transcript is neither a string nor null');
  must(durationMs === undefined || isAmount(durationMs), 'the durationMs of the transcript is not a number >= 0');
  if (segments !== undefined) checkTimes(segments, durationMs);
  if (words !== undefined) checkTimes(words, durationMs);
  if (turns !== undefined) checkTurns(checkTimes(turns, durationMs));
  return value as Transcript;
}

const mostTimes = 1_000_000;

export function checkTimes(value: unknown, durationMs: number | undefined): readonly TimedText[] {
  must(Array.isArray(value) && value.length <= mostTimes, 'the times of the transcript are not an array');
  const times = (value as readonly unknown[]).map((item) => checkTime(item, durationMs));
  const isOrdered = times.every(({ startMs }, index) => startMs >= (times[index - 1]?.startMs ?? 0));
  must(isOrdered, 'the times of the transcript are not in order');
  const characters = times.reduce((sum, { text }) => sum + text.length, 0);
  must(characters <= longestText, `the times of the transcript have more than ${longestText} characters`);
  return times;
}

export function checkTime(value: unknown, durationMs = Infinity): TimedText {
  const { startMs, endMs, text } = objectOf(value, 'a part of the transcript');
  mustBeText(text, 'the text of a part of the transcript');
  must(isCount(startMs) && isCount(endMs), 'the times of the transcript are not whole milliseconds');
  must(startMs <= endMs && endMs <= Math.ceil(durationMs), 'a part of the transcript lies outside of it');
  return value as TimedText;
}

export function checkSpans(value: unknown, durationMs: number): readonly Span[] {
  must(Array.isArray(value) && value.length <= mostTimes, 'the stretches of speech are not an array');
  let before = 0;
  return (value as readonly unknown[]).map((item) => {
    const { startMs, endMs } = objectOf(item, 'a stretch of speech');
    const isAfter = isAmount(startMs) && isAmount(endMs) && startMs >= before && endMs >= startMs;
    must(isAfter && endMs <= durationMs, 'the stretches of speech overlap or lie outside of the sound');
    before = endMs;
    return { startMs, endMs };
  });
}

function checkTurns(turns: readonly Partial<SpeakerTurn>[]): void {
  const haveSpeakers = turns.every(({ speaker }) => isText(speaker) && speaker !== '');
  must(haveSpeakers, 'a turn of the transcript has no speaker');
}

export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function isCount(value: unknown): value is number {
  return isAmount(value) && Number.isInteger(value);
}

export function hasFunction(value: unknown, name: string | symbol): boolean {
  return typeof (value as Readonly<Record<string | symbol, unknown>> | null | undefined)?.[name] === 'function';
}

const assetId = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Groups are passed on unchanged, because they contain functions. */
export function checkAssets(value: unknown): readonly AssetGroup[] {
  must(Array.isArray(value), '`assets` is not an array');
  const groups: readonly AssetGroup[] = value;
  for (const group of groups) {
    const { id, title, purpose, assets, extras = [] } = group;
    must(isId(id) && assetId.test(id), badAssetId);
    const longest = `of ${id} is not a string of at most ${longestLabel} characters`;
    must(title === undefined || isText(title), `.title ${longest}`);
    must(purpose === undefined || isText(purpose), `.purpose ${longest}`);
    must([assets, extras].every(Array.isArray), `the assets of ${id} are not arrays`);
    const all: readonly Asset[] = [...assets, ...extras];
    must(all.length > 0, `${id} has no assets`);
    all.forEach(checkAsset);
  }
  must(new Set(groups.map(({ id }) => id)).size === groups.length, '`assets` has an id twice');
  return groups;
}

function checkAsset(asset: Asset): void {
  const { id, title, bytes, license, kind } = asset;
  must(isId(id) && assetId.test(id), badAssetId);
  const bad = (what: string) => `the asset ${id} ${what}`;
  must(isText(title) && title !== '', bad(`has no title of 1 to ${longestLabel} characters`));
  must(isText(license) && license !== '', bad(`has no license of 1 to ${longestLabel} characters`));
  must(bytes === null || isCount(bytes), bad('has neither a whole number of bytes nor null'));
  must(hasFunction(asset, 'isReady'), bad('has no function `isReady`'));
  const needed = { files: ['files'], packages: ['name', 'version', 'manifest', 'directory', 'files'], made: ['verb', 'source', 'path', 'make'] }; // prettier-ignore
  must(Object.hasOwn(needed, kind), bad(`is of the unknown kind ${kind}`));
  for (const name of needed[kind]) must(name in asset, bad(`has no \`${name}\``));
}

const badAssetId = 'an id of `assets` is not 1 to 64 letters, digits, dots, hyphens and underscores';

export function checkFindings(value: unknown): readonly Finding[] {
  return checkList<Finding>(value, [], '`inspect()`', (finding) => {
    const { what, ok, detail, fix } = finding;
    must(typeof what === 'string' && typeof detail === 'string', ' has no `what` or no `detail`');
    must(typeof ok === 'boolean', '.ok is not a boolean');
    return { what, ok, detail, ...(typeof fix === 'string' && { fix }) };
  });
}
