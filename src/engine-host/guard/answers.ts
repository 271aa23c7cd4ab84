/** Validates the return values of engines. Throws a `BadAnswer`. */
import {
  availabilityCodes,
  features,
  maxTextLength,
  type Asset,
  type AssetGroup,
  type Availability,
  type Feature,
  type Finding,
  type FoundSpeakers,
  type ModelEntry,
  type Span,
  type SpeakerTurn,
  type TimedText,
  type Transcript,
  type Voice,
} from '../../../engines/contract/index.ts';
import { shorten } from '../../../lib/text.ts';
import { BadAnswer } from './failures.ts';

const maxEntries = 10_000;
const maxIdLength = 256; // as in the API contract
const maxLabelLength = 4_096;

const badId = `.id is not a string of 1 to ${maxIdLength} characters`;
const badName = `.name is not a string of at most ${maxLabelLength} characters`;

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
  if (value.length > maxTextLength) throw new BadAnswer(`${what} has more than ${maxTextLength} characters`);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxIdLength;
}

/**
 * Returns the entry without members that the contract does not declare. Unknown features, such as those of later
 * versions, are dropped.
 */
export function checkEntry(value: unknown): ModelEntry {
  const item = objectOf(value, 'an entry');
  must(isId(item.id), `an entry${badId}`);
  const bad = (what: string) => `the entry "${String(item.id)}"${what}`;
  must(typeof item.local === 'boolean', bad('.local is not a boolean'));
  for (const name of ['mayBeLocal', 'discovered', 'isExplicitOnly'] as const) {
    must(item[name] === undefined || typeof item[name] === 'boolean', bad(`.${name} is not a boolean`));
  }
  must(item.name === undefined || isText(item.name), bad(badName));
  must(item.defaultVoice === undefined || isId(item.defaultVoice), bad('.defaultVoice is not an id'));
  for (const name of ['needs', 'languages'] as const) {
    const ids = item[name];
    must(ids === undefined || (Array.isArray(ids) && ids.every(isId)), bad(`.${name} is not an array of ids`));
  }
  const { id, name, local, mayBeLocal, discovered, needs, isExplicitOnly, languages, defaultVoice } =
    item as unknown as ModelEntry;
  const facts = { id, name, local, mayBeLocal, discovered, needs, isExplicitOnly, languages, defaultVoice };
  const { supports, voices, availability } = item;
  return withoutUndefined({
    ...facts,
    supports: supports === undefined ? undefined : checkFeatures(supports, bad('.supports is not an array')),
    voices: voices === undefined ? undefined : checkVoices(voices, bad),
    availability: availability === undefined ? undefined : checkAvailability(availability, bad),
  });
}

/** Removes undefined members: optional members of the contract must be absent, not undefined. */
function withoutUndefined(entry: { readonly [K in keyof ModelEntry]: ModelEntry[K] | undefined }): ModelEntry {
  const known = Object.entries(entry).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as unknown as ModelEntry;
}

function checkFeatures(value: unknown, broken: string): readonly Feature[] {
  must(Array.isArray(value), broken);
  const given: readonly unknown[] = value;
  return (Object.keys(features) as Feature[]).filter((feature) => given.includes(feature));
}

function checkVoices(value: unknown, bad: (what: string) => string): readonly Voice[] {
  must(Array.isArray(value) && value.length <= maxEntries, bad(`.voices is not an array of at most ${maxEntries}`));
  return value.map((item: unknown, index) => {
    const where = `.voices[${index}]`;
    const { id, name, language } = objectOf(item, bad(where));
    must(isId(id), bad(where + badId));
    must(isText(name), bad(where + badName));
    must(language === null || isText(language), bad(`${where}.language is neither a string nor null`));
    return { id, name, language };
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxLabelLength;
}

function checkAvailability(value: unknown, bad: (what: string) => string): Availability {
  const { available, code, reason, forOperator, progress } = objectOf(value, bad('.availability'));
  must(typeof available === 'boolean', bad('.availability.available is not a boolean'));
  const isKnown = (availabilityCodes as readonly unknown[]).includes(code) && code !== 'engine-failed';
  must(isKnown, bad('.availability has an unknown code'));
  must(typeof reason === 'string', bad('.availability has no reason'));
  must(forOperator === undefined || isText(forOperator), bad('.availability.forOperator is not a string'));
  const isFraction = progress === undefined || (isAmount(progress) && progress <= 1);
  must(isFraction, bad('.availability.progress is not a number from 0 to 1'));
  return { ...(value as Availability), reason: shorten(reason, maxLabelLength) };
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

const maxTimes = 1_000_000;

export function checkTimes(value: unknown, durationMs: number | undefined): readonly TimedText[] {
  must(Array.isArray(value) && value.length <= maxTimes, 'the times of the transcript are not an array');
  const times = (value as readonly unknown[]).map((item) => checkTime(item, durationMs));
  const isOrdered = times.every(({ startMs }, index) => startMs >= (times[index - 1]?.startMs ?? 0));
  must(isOrdered, 'the times of the transcript are not in order');
  const characters = times.reduce((sum, { text }) => sum + text.length, 0);
  must(characters <= maxTextLength, `the times of the transcript have more than ${maxTextLength} characters`);
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
  must(Array.isArray(value) && value.length <= maxTimes, 'the stretches of speech are not an array');
  let before = 0;
  return (value as readonly unknown[]).map((item) => {
    const { startMs, endMs } = objectOf(item, 'a stretch of speech');
    const isAfter = isAmount(startMs) && isAmount(endMs) && startMs >= before && endMs >= startMs;
    must(isAfter && endMs <= durationMs, 'the stretches of speech overlap or lie outside of the sound');
    before = endMs;
    return { startMs, endMs };
  });
}

/** Shortens spans that extend past the end, and drops those that are then empty. */
export function checkSpeakers(value: unknown, durationMs: number): FoundSpeakers {
  const { spans, distances } = objectOf(value, 'the result of `speakers.find()`');
  must(Array.isArray(spans) && spans.length <= maxTimes, 'the spans of speakers are not an array');
  must(Array.isArray(distances), 'the distances of speakers are not an array');
  return {
    spans: (spans as readonly unknown[]).flatMap((item) => {
      const { startMs, endMs, speaker } = objectOf(item, 'a span of a speaker');
      must(
        isAmount(startMs) && isAmount(endMs) && isCount(speaker),
        'a span of a speaker has no valid times or speaker',
      );
      const span = { startMs: Math.round(startMs), endMs: Math.min(Math.round(endMs), durationMs), speaker };
      return span.startMs < span.endMs ? [span] : [];
    }),
    distances: (distances as readonly unknown[]).map((row) => {
      must(Array.isArray(row) && row.every(isAmount), 'the distances of speakers are not numbers');
      return row;
    }),
  };
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
    const longest = `of ${id} is not a string of at most ${maxLabelLength} characters`;
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
  must(isText(title) && title !== '', bad(`has no title of 1 to ${maxLabelLength} characters`));
  must(isText(license) && license !== '', bad(`has no license of 1 to ${maxLabelLength} characters`));
  must(bytes === null || isCount(bytes), bad('has neither a whole number of bytes nor null'));
  must(hasFunction(asset, 'isReady'), bad('has no function `isReady`'));
  const needed = {
    files: ['files'],
    packages: ['name', 'version', 'manifest', 'directory', 'files'],
    made: ['verb', 'source', 'path', 'make'],
  };
  must(Object.hasOwn(needed, kind), bad(`is of the unknown kind ${kind}`));
  for (const name of needed[kind]) must(name in asset, bad(`has no \`${name}\``));
}

const badAssetId = 'an id of `assets` is not 1 to 64 letters, digits, dots, hyphens and underscores';

export function checkFindings(value: unknown): readonly Finding[] {
  must(Array.isArray(value), '`inspect()` did not return an array');
  return value.map((item: unknown, index) => {
    const { what, ok, detail, fix } = objectOf(item, `\`inspect()\`[${index}]`);
    const isNamed = typeof what === 'string' && typeof detail === 'string';
    must(isNamed, `\`inspect()\`[${index}] has no \`what\` or no \`detail\``);
    must(typeof ok === 'boolean', `\`inspect()\`[${index}].ok is not a boolean`);
    return { what, ok, detail, ...(typeof fix === 'string' && { fix }) };
  });
}
