/**
 * Builds the page, the API reference and the list of errors: the files of generated/page/, by name. Assets are named by
 * the hash of their content, so that browsers may cache them forever.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { minify, type CompressOptions } from 'terser';

const here = import.meta.dirname;
const scalar = join(here, '../node_modules/@scalar/api-reference');

/** Files that the HTML files link to, by placeholder. */
type Assets = Record<string, { readonly name: string; readonly content: Uint8Array }>;

export interface Texts {
  /** The sections of `/docs/errors`, as HTML. */
  readonly errors: string;
}

export async function buildPage({ errors }: Texts): Promise<Record<string, Uint8Array>> {
  const worklet = named('worklet', 'js', await bundle('frames.worklet.ts'));
  const scripts = await split('main.tsx', { WORKLET_URL: JSON.stringify(worklet.name) });
  const assets: Assets = {
    'main.js': scripts.entry,
    'styles.css': named('styles', 'css', await bundle('styles.css')),
    'icon.svg': named('icon', 'svg', await readFile(join(here, 'icon.svg'))),
    'docs.js': named('docs', 'js', await bundle('docs.ts')),
    'docs.css': named('docs', 'css', await bundle('docs.css')),
    'errors.css': named('errors', 'css', await bundle('errors.css')),
    'scalar.js': named('scalar', 'js', await readFile(join(scalar, 'dist/browser/standalone.js'))),
  };
  const files: Record<string, Uint8Array> = {
    'index.html': await html('index.html', assets, { preloads: scripts.preloads }),
    'docs.html': await html('docs.html', assets),
    'errors.html': await html('errors.html', assets, { errors }),
    'setup.html': await html('setup.html', assets),
    'LICENSES.txt': await licenses(),
  };
  for (const { name, content } of [worklet, ...scripts.others, ...Object.values(assets)]) {
    if (name.includes('/scalar-')) files[`${name}.gz`] = gzipSync(content, { level: 9 });
    else files[name] = content;
  }
  return files;
}

const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: ['chrome111', 'firefox115', 'safari16.4'],
  legalComments: 'none', // LICENSES.txt has them
} as const satisfies BuildOptions;

/** Calls of `h` are smaller than those of the JSX runtime of `tsconfig.json`, which TypeScript checks. */
const jsx = {
  tsconfigRaw: {},
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: [join(here, 'jsx.ts')],
} as const satisfies BuildOptions;

async function bundle(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({ ...options, entryPoints: [entry] });
  return Buffer.concat(outputFiles.map(({ contents }) => contents)); // one entry point, one file
}

/**
 * Views that load later, such as the reader, have their own file. The code that they share with `main` has another one.
 */
async function split(entry: string, define: Record<string, string>) {
  const { outputFiles, metafile } = await build({
    ...options,
    ...jsx,
    supported: { 'regexp-unicode-property-escapes': true }, // as all targets do
    entryPoints: [entry],
    define,
    splitting: true,
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
  });
  const files = await Promise.all(
    outputFiles.map(async ({ path, text }) => ({ name: `assets/${basename(path)}`, content: await smaller(text) })),
  );
  const [name, { imports } = { imports: [] }] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
  const main = files.find((file) => file.name === name);
  if (!main) throw new Error(`${entry} is not built`);
  const preloads = imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="${path}" />`)
    .join('');
  return { entry: main, others: files.filter((file) => file !== main), preloads };
}

/** Terser reduces the output of esbuild by another 3 %. Code that repeats itself compresses better than shorter code. */
async function smaller(script: string): Promise<Uint8Array> {
  const compress: CompressOptions = { passes: 3, lhs_constants: false, pure_funcs: ['console.assert'] };
  const { code = script } = await minify(script, { module: true, ecma: 2020, compress });
  return Buffer.from(code);
}

function named(name: string, extension: string, content: Uint8Array): Assets[string] {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { name: `assets/${name}-${hash}.${extension}`, content };
}

async function html(file: string, assets: Assets, texts: Record<string, string> = {}): Promise<Uint8Array> {
  const text = await readFile(join(here, file), 'utf8');
  const linked = text.replaceAll(/\{\{([\w.]+)\}\}/g, (_all, key: string) => {
    const value = texts[key] ?? assets[key]?.name;
    if (value === undefined) throw new Error(`${file} names ${key}, which is not built`);
    return value;
  });
  return Buffer.from(linked);
}

/** The bundled packages, with the texts of their licenses. */
async function licenses(): Promise<Uint8Array> {
  const packages = ['preact', '@preact/signals', '@preact/signals-core', 'streaming-markdown', '@scalar/api-reference'];
  const texts = await Promise.all(
    packages.map(async (name) => {
      const folder = join(here, '../node_modules', name);
      const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
      const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8');
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    }),
  );
  return Buffer.from(texts.join('\n----------------------------------------\n\n'));
}

interface Manifest {
  readonly version: string;
  readonly license: string;
}
