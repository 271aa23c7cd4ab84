/** Finds out which family of models a folder contains, and checks its files, without loading them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Unusable, explained, rememberFiles, type Judged } from '../model-files.ts';
import { readOnnxFile, type Metadata } from './onnx-file.ts';

/** The files of a folder. Every model exists and is complete; the family checks the other files. */
export interface FolderFiles {
  /** Paths by the names in `Family.files`. */
  readonly paths: Readonly<Record<string, string>>;
  /** Total size of the models in bytes. */
  readonly bytes: number;
  /** Metadata of the first file. */
  readonly metadata: Metadata;
}

/** Models that sherpa-onnx runs with the same configuration. */
export interface Family<Facts> {
  /** The name of the family in messages. */
  readonly title: string;
  /**
   * The files of a folder, each with the names that it may have, the preferred one first. The first file is a model.
   */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** Whether the metadata of the first file is that of this family: another family may use the same file names. */
  readonly isOwn: (metadata: Metadata) => boolean;
  /** Checks what would crash the library, and returns the facts of the model. Throws as `explained` does. */
  readonly judge: (files: FolderFiles) => Facts;
}

/** Checks the files again only if one of them has changed. */
export function rememberFolder<F>(folder: string, families: readonly Family<F>[]): () => Promise<Judged<F>> {
  const names = new Set(families.flatMap(({ files }) => Object.values(files).flat()));
  const paths = [...names].map((name) => join(folder, name));
  return rememberFiles(paths, () => {
    const family = recognize(folder, families);
    return family.judge(filesOf(folder, family));
  });
}

function recognize<F>(folder: string, families: readonly Family<F>[]): Family<F> {
  const found = families.filter((family) => existsSync(pathOf(folder, firstNames(family))));
  const own = found.find((family) => family.isOwn(readModel(pathOf(folder, firstNames(family))).metadata));
  if (own) return own;
  const [candidate] = found;
  if (!candidate) return explained(folder, () => refuseNames(folder, families));
  const path = pathOf(folder, firstNames(candidate));
  return explained(path, () => refuseType(readModel(path).metadata, found));
}

function refuseNames(folder: string, families: readonly Family<unknown>[]): never {
  if (!existsSync(folder)) throw Object.assign(new Error('no such folder'), { code: 'ENOENT' });
  const expected = families.map((family) => `${firstNames(family)[0]} (${family.title})`);
  throw new Unusable(`it has no ${expected.join(', ')}`);
}

function refuseType(metadata: Metadata, families: readonly Family<unknown>[]): never {
  const type = metadata.get('model_type') ?? 'missing';
  throw new Unusable(`its model_type is ${type}; supported: ${families.map(({ title }) => title).join(', ')}`);
}

function filesOf(folder: string, { files }: Family<unknown>): FolderFiles {
  const paths = Object.fromEntries(Object.entries(files).map(([role, names]) => [role, pathOf(folder, names)]));
  const all = Object.values(paths).map((path) => ({ path, ...readModel(path) }));
  return { paths, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0), metadata: all[0]?.metadata ?? new Map() };
}

const firstNames = ({ files }: Family<unknown>): readonly string[] => Object.values(files)[0] ?? [];

/** Returns the first of the files that exists, or else the preferred one. */
function pathOf(folder: string, names: readonly string[]): string {
  const paths = names.map((name) => join(folder, name));
  return paths.find((path) => existsSync(path)) ?? paths[0] ?? folder;
}

/** Families read the other files themselves, and also report a missing one in a sentence. */
function readModel(path: string): { readonly bytes: number; readonly metadata: Metadata } {
  const isModel = /\.(onnx|ort)$/.test(path);
  return isModel ? explained(path, () => readOnnxFile(path)) : { bytes: 0, metadata: new Map() };
}
