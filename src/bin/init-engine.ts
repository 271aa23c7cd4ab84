/**
 * `parlance init-engine NAME --capability CAPABILITY`: creates a package that contains an engine, and scripts that
 * build and test it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Capability } from '../../engines/contract/index.ts';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { commandLine } from '../../lib/setup-command.ts';
import { capabilities } from '../engine-host/registry/load-definition.ts';
import { isPackageName } from './package-name.ts';

const usage = `Usage: ${commandLine('init-engine', 'NAME', '--capability', capabilities.join('|'))}

  NAME          name of the package, its folder and its engine: lower case, with hyphens, such as my-engine
  --capability  what the engine does`;

const require = createRequire(import.meta.url);
const manifest = require.resolve('@parlance/server/package.json');
const own = require(manifest) as {
  readonly name: string;
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};

class UsageError extends Error {}

try {
  await main();
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  console.error(error instanceof UsageError ? `${error.message}\n\n${usage}` : `init-engine: ${messageOf(error)}`);
}

async function main(): Promise<void> {
  const args = readArguments();
  if (args === undefined) return console.log(usage);
  const { name, capability } = args;
  const folder = resolve(name);
  const server = serverFor(folder);
  const files = filesOf(name, server.spec, await templateOf(capability));
  await create(folder, files);
  console.log(`Created ${folder}: ${Object.keys(files).join(', ')}. Next:\n`);
  const { toPack } = server;
  const steps = [
    ...(toPack === undefined ? [] : [`(cd ${toPack} && npm pack)   # once; takes a minute or two`]),
    `cd ${name}`,
    'npm install',
    'npm test',
  ];
  console.log(steps.map((step) => `  ${step}`).join('\n'));
}

function readArguments(): { readonly name: string; readonly capability: Capability } | undefined {
  const options = { capability: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
  let given;
  try {
    given = parseArgs({ allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  const { values, positionals } = given;
  if (values.help === true) return undefined;
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('expected exactly one NAME');
  if (!isPackageName(name)) throw new UsageError(`${JSON.stringify(name)} is not a valid package name`);
  const capability = capabilities.find((one) => one === values.capability);
  if (capability === undefined) throw new UsageError(`--capability must be one of ${capabilities.join(', ')}`);
  return { name, capability };
}

/**
 * Reads the template from the examples. In a clone, they are in the repository; the build copies them into the npm
 * package.
 */
function templateOf(capability: Capability): Promise<string> {
  const isClone = import.meta.url.endsWith('.ts');
  const path = isClone ? `../../examples/engines/${capability}.ts` : `./engine-templates/${capability}.ts.txt`;
  return readFile(new URL(path, import.meta.url), 'utf8');
}

interface Server {
  /** Version or path for `npm install`. */
  readonly spec: string;
  /** Directory of the clone, if it must first be packed into a tarball. */
  readonly toPack?: string;
}

/** Returns the running version of the service: the installed package, or a tarball of the clone. */
function serverFor(folder: string): Server {
  const root = dirname(manifest);
  const project = /^(.*)[/\\]node_modules[/\\]@parlance[/\\]server$/.exec(root)?.[1];
  if (project !== undefined) {
    const from = installedFrom(project);
    return { spec: from === undefined ? `^${own.version}` : fileSpec(folder, from) };
  }
  const tarball = join(root, `parlance-server-${own.version}.tgz`);
  return { spec: fileSpec(folder, tarball), ...(!existsSync(tarball) && { toPack: root }) };
}

/** Returns the file from which npm installed this package; undefined if it came from the registry. */
function installedFrom(project: string): string | undefined {
  try {
    const lock = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')) as Lock;
    const resolved = lock.packages[`node_modules/${own.name}`]?.resolved;
    return resolved?.startsWith('file:') ? resolve(project, fileOf(resolved)) : undefined;
  } catch {
    return undefined; // installed by another package manager
  }
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly resolved?: string }>>;
}

function fileOf(spec: string): string {
  return spec.startsWith('file:///') ? fileURLToPath(spec) : spec.slice('file:'.length);
}

function fileSpec(folder: string, path: string): string {
  return `file:${relative(folder, path)}`;
}

function filesOf(name: string, server: string, template: string): Readonly<Record<string, string>> {
  const { typescript = '*', '@types/node': nodeTypes = '*' } = own.devDependencies;
  const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
  return {
    'package.json': json({
      name,
      version: '0.1.0',
      description: 'An engine for Parlance.',
      type: 'module',
      exports: { types: './dist/index.d.ts', default: './dist/index.js' },
      files: ['dist'],
      scripts: { build: 'tsc', test: 'tsc && parlance check-engine ./dist/index.js' },
      peerDependencies: { [own.name]: `^${own.version}` },
      devDependencies: { [own.name]: server, '@types/node': nodeTypes, typescript },
    }),
    'tsconfig.json': json({
      compilerOptions: {
        ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', types: ['node'] },
        ...{ strict: true, skipLibCheck: true, declaration: true, rootDir: 'src', outDir: 'dist' },
      },
      include: ['src'],
    }),
    'src/index.ts': template.replaceAll('my-engine', name),
    'README.md': readmeOf(name),
    '.gitignore': 'dist\nnode_modules\n',
  };
}

function readmeOf(name: string): string {
  return `# ${name}

An engine for Parlance, in \`src/index.ts\`. \`npm test\` builds it and checks it against the engine contract.

In the \`parlance.config.yaml\` of a service, as the path of this folder, or by its name where it is installed
(\`npm install PATH-OF-THIS-FOLDER\`):

\`\`\`yaml
engines:
  mine: { use: ./${name} }
\`\`\`

In a clone of the service, \`use: ./${name}/src/index.ts\` needs no build.

The types of the contract, with what each member means: \`node_modules/@parlance/server/dist/engines/contract/\`.
`;
}

/** Creates a new folder and writes the files into it. */
async function create(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    throw errnoOf(error) === 'EEXIST' ? new Error(`${folder} already exists; not overwritten`) : error;
  });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: 'wx' });
  }
}
