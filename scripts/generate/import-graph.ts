/**
 * Draws the import rules: a node per rule, and an edge to each folder that it may import, without edges that follow
 * from others.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mayImport } from '../../test/import-rules.ts';

const home = fileURLToPath(new URL('../..', import.meta.url));

/** The files and folders that a rule applies to. */
interface Room {
  readonly places: readonly string[];
  readonly allowed: RegExp;
}

export function importGraph(): string {
  const rooms = roomsOfTheHouse();
  const reach = rooms.map((from) => rooms.flatMap((to, index) => (to !== from && mayEnter(from, to) ? [index] : [])));
  const lines = rooms.flatMap((from, index) => [
    `  r${index}["${labelOf(from)}"]`,
    ...withoutDetours(index, reach).map((to) => `  r${index} --> r${to}`),
    ...singleFiles(from, rooms).map(({ to, file }) => `  r${index} -. ${file} .-> r${to}`),
  ]);
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n');
}

/** Generated files import nothing. */
const rules = [...mayImport, [/^generated\//, /^$/]] as const;

function roomsOfTheHouse(): Room[] {
  const places = [...new Set(sources().map(placeOf))];
  return rules
    .map(([, allowed], rule) => ({ allowed, places: places.filter((place) => ruleOf(sampleOf(place)) === rule) }))
    .filter((room) => room.places.length > 0);
}

const ruleOf = (path: string): number => rules.findIndex(([importers]) => importers.test(path));

function sources(): string[] {
  return ['lib', 'engines', 'src', 'generated'].flatMap((folder) =>
    readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`)
      .sort(),
  );
}

/** `lib`, `generated`, `engines/NAME`, `src/NAME`. */
function placeOf(path: string): string {
  const [folder = '', name = ''] = path.split('/');
  return folder === 'lib' || folder === 'generated' ? folder : `${folder}/${name}`;
}

/** Returns the path of a file that could exist: a rule that allows it allows the whole folder. */
function sampleOf(place: string): string {
  return place.endsWith('.ts') ? place : `${place}/any.ts`;
}

function mayEnter({ allowed }: Room, { places }: Room): boolean {
  return places.every((place) => allowed.test(sampleOf(place)));
}

/** Leaves out nodes that can be reached through another one. */
function withoutDetours(from: number, reach: readonly (readonly number[])[]): number[] {
  const next = reach[from] ?? [];
  return next.filter((to) => !next.some((via) => via !== to && reachable(via, reach).has(to)));
}

function reachable(from: number, reach: readonly (readonly number[])[], seen = new Set<number>()): Set<number> {
  for (const to of reach[from] ?? []) {
    if (seen.has(to)) continue;
    seen.add(to);
    reachable(to, reach, seen);
  }
  return seen;
}

/** The allowed files of a folder that is otherwise forbidden. */
function singleFiles(from: Room, rooms: readonly Room[]): { readonly to: number; readonly file: string }[] {
  return sources().flatMap((path) => {
    const to = rooms.findIndex((room) => room !== from && room.places.includes(placeOf(path)));
    const room = rooms[to];
    if (!room || mayEnter(from, room) || !from.allowed.test(path)) return [];
    return [{ to, file: path.split('/').at(-1) ?? '' }];
  });
}

function labelOf({ places }: Room): string {
  const [first = ''] = places;
  return places.length > 4 ? `${first.split('/')[0] ?? ''}/*` : places.join(', ');
}
