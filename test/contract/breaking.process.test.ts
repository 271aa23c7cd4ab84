/** Breaks of the documents and types are found, additions are not breaks, and `npm run check` fails on a break without a reason. */
import { execFile, execFileSync } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { findTypeBreaks, writePrograms } from './breaking-types.ts';
import { findBreaks, mayBreak } from './breaking.ts';

const home = join(import.meta.dirname, '../..');
const read = (name: string) => readFile(join(home, 'generated', name), 'utf8');
const published = await read('openapi.json');

/** As much of a document as the changes below touch. */
interface Schema {
  type?: string;
  $ref?: string;
  required: string[];
  properties: Record<string, object>;
  enum: string[];
  maxLength?: number;
  oneOf: Schema[];
  discriminator: { mapping: Record<string, string> };
}

interface Operation {
  parameters: { required: boolean }[];
  responses: Record<string, { content: Record<string, object>; headers: Record<string, object> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

type Edit = (schemas: Record<string, Schema>, paths: Document['paths']) => void;

/** The published contract with these changes; each must have something to change. */
function edited(...edits: readonly Edit[]): string {
  const document = JSON.parse(published) as Document;
  for (const edit of edits) {
    const before = JSON.stringify(document);
    edit(document.components.schemas, document.paths);
    expect(JSON.stringify(document), String(edit)).not.toBe(before);
  }
  return JSON.stringify(document);
}

const without = (list: string[], name: string) => list.filter((one) => one !== name);

/** Each with words of the line that tells of it. */
const breaks: readonly (readonly [what: RegExp, edit: Edit])[] = [
  [
    /Variant `ToolProgress` was removed/,
    ({ ChatEvent }) => {
      ChatEvent!.oneOf = ChatEvent!.oneOf.filter(({ $ref }) => !$ref?.endsWith('ToolProgress'));
      delete ChatEvent!.discriminator.mapping['tool.progress'];
    },
  ],
  [/`output` of `tool\.finished` was removed/, ({ ToolFinished }) => delete ToolFinished!.properties.output],
  [/Type of `name`/, ({ ToolStarted }) => (ToolStarted!.properties.name = { type: 'integer' })],
  [
    /`audio\.created` are no longer required: `audio`/,
    ({ AudioCreated }) => (AudioCreated!.required = without(AudioCreated!.required, 'audio')),
  ],
  [/`usage` of `ChatResult` was removed/, ({ ChatResult }) => delete ChatResult!.properties.usage],
  [/became required: `voice_id`/, ({ SpeechRequest }) => SpeechRequest!.required.push('voice_id')],
  [
    /`SpeechFormat` lost values: 'opus'/,
    ({ SpeechFormat }) => (SpeechFormat!.enum = without(SpeechFormat!.enum, 'opus')),
  ],
  [/gained values: 'unsure'/, ({ FinishReason }) => FinishReason!.enum.push('unsure')],
  [/`maxLength`.*'256' to '100'/, ({ ModelId }) => (ModelId!.maxLength = 100)],
  [/Path `\/models` was removed/, (_schemas, paths) => delete paths['/models']],
  [/Response `503` was removed/, (_schemas, paths) => delete paths['/tts/models']!.get!.responses[503]],
  [/`audio\/ogg` was removed/, (_schemas, paths) => delete paths['/tts']!.post!.responses[200]!.content['audio/ogg']],
  [/header `Link` was removed/, (_schemas, paths) => delete paths['/chat']!.post!.responses[200]!.headers.Link],
  [
    /`model` query parameter became required/,
    (_schemas, paths) => (paths['/transcribe']!.get!.parameters[0]!.required = true),
  ],
];

describe('between two versions of the contract', () => {
  test('finds every breaking change', async () => {
    const found = await findBreaks(published, edited(...breaks.map(([, edit]) => edit)));
    for (const [what] of breaks) expect(found).toContainEqual(expect.stringMatching(what));
  });

  test('additions and relaxations are not breaking', async () => {
    const revision = edited(
      (schemas) => {
        schemas.ToolCancelled = {
          ...schemas.StepStarted!,
          properties: { type: { type: 'string', enum: ['tool.cancelled'] } },
        };
        schemas.ChatEvent!.oneOf.push({ $ref: '#/components/schemas/ToolCancelled' } as Schema);
        schemas.ChatEvent!.discriminator.mapping['tool.cancelled'] = '#/components/schemas/ToolCancelled';
      },
      ({ ProblemCode }) => ProblemCode!.enum.push('brand-new'),
      ({ SpeechFormat }) => SpeechFormat!.enum.push('midi'),
      ({ FinishReason }) => FinishReason!.enum.pop(),
      ({ ToolStarted }) => (ToolStarted!.properties.title = { type: 'string' }),
      ({ ChatRequest }) => (ChatRequest!.properties.seed = { type: 'integer' }),
      ({ TranscriptionRequest }) => (TranscriptionRequest!.properties.model = { type: 'string', maxLength: 512 }),
      (_schemas, paths) => (paths['/voices'] = { get: { ...paths['/models']!.get!, parameters: [] } }),
    );
    expect(await findBreaks(published, revision)).toEqual([]);
  });
});

/** As much of the other documents as the patches touch. */
interface Other {
  required?: string[];
  properties: Record<string, { items: Other & { required: string[] } }>;
  definitions: Record<string, Other & { required: string[] }>;
  operations: Record<string, { messages: object[] }>;
  components: { messages: Record<string, object>; schemas: Record<string, Schema & { anyOf: object[] }> };
}

const event = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Each document with a patch that breaks it, words of the lines about it, and one that does not. */
const patches: readonly (readonly [
  name: string,
  breaking: (document: Other) => void,
  found: readonly RegExp[],
  harmless: (document: Other) => void,
])[] = [
  [
    'openapi-compat.json',
    ({ components: { schemas } }) => {
      schemas.AnyTranscription!.anyOf.pop();
      schemas.OutputItem!.anyOf.shift();
    },
    [/^Variant `DiarizedTranscription` was removed/, /^Variant `ReasoningItem` was removed/],
    ({ components: { schemas } }) => {
      schemas.Brand = { ...schemas.SpeechAudioDone!, properties: { type: { enum: ['brand.new'] } } };
      schemas.SpeechEvent!.anyOf.push(event('Brand'));
      schemas.SpeechRequest!.properties.mood = { type: 'string' };
    },
  ],
  [
    'asyncapi-compat.json',
    ({ operations, components: { schemas } }) => {
      const { messages } = operations.sendEvent!;
      messages.splice(
        messages.findIndex((message) => JSON.stringify(message).includes('ServerEventError')),
        1,
      );
      schemas.RealtimeClientEventInputAudioBufferClear!.required.push('event_id');
    },
    [/^Variant `RealtimeServerEventError` was removed/, /`input_audio_buffer.clear` became required: `event_id`/],
    ({ operations, components: { schemas, messages } }) => {
      messages.Brand = { name: 'brand.new', payload: event('Brand') };
      operations.sendEvent!.messages.push({ $ref: '#/channels/realtime/messages/Brand' });
      schemas.Brand = { ...schemas.RealtimeServerEventError!, properties: { type: { const: 'brand.new' } } };
      schemas.RealtimeClientEventInputAudioBufferClear!.properties.mood = { type: 'string' };
    },
  ],
  [
    'config.schema.json',
    (schema) => {
      schema.required = ['host'];
      schema.definitions['hosted-stt']!.required.push('apiKey');
    },
    [/`settings` became required: `host`/, /`hosted-stt` became required: `apiKey`/],
    ({ properties, definitions }) => {
      properties.mood = { type: 'string' } as never;
      definitions['hosted-stt']!.properties.mood = { type: 'string' } as never;
    },
  ],
  [
    'keys.schema.json',
    ({ properties }) => properties.keys!.items.required.push('expires'),
    [/became required: `expires`/],
    ({ properties }) => (properties.keys!.items.properties.mood = { type: 'string' } as never),
  ],
];

test.each(patches)('a break of %s is found, an addition is not', async (name, breaking, found, harmless) => {
  const base = await read(name);
  const patched = (patch: (document: Other) => void) => {
    const document = JSON.parse(base) as Other;
    patch(document);
    return JSON.stringify(document);
  };
  const lines = await findBreaks(base, patched(breaking));
  expect(lines).toHaveLength(found.length);
  for (const words of found) expect(lines).toContainEqual(expect.stringMatching(words));
  expect(await findBreaks(base, patched(harmless))).toEqual([]);
});

test(
  'programs of yesterday compile with what is added to the types, and not without what they use',
  { timeout: 180_000 },
  async () => {
    const directory = await temporaryDirectory();
    await writePrograms('HEAD', home, directory);
    const patch = async (file: string, from: string, to: string) => {
      const path = join(directory, 'dist', file);
      const text = await readFile(path, 'utf8');
      expect(text).toContain(from);
      await writeFile(path, text.replace(from, to));
    };
    await patch('engines/contract/engine.d.ts', 'interface Engine {', 'interface Engine { ping?(): void;');
    expect(await findTypeBreaks(directory)).toEqual([]);
    await patch('engines/contract/engine.d.ts', 'ping?()', 'ping()');
    await patch('src/client/index.d.ts', ' streamChat(', ' streamTalk(');
    const lines = await findTypeBreaks(directory);
    for (const words of [
      /^examples\/whistle\.ts.*'ping' is missing/,
      /^test\/fixtures.*page\.ts.*'streamChat' does not exist/,
    ])
      expect(lines).toContainEqual(expect.stringMatching(words));
  },
);

test.each([
  ['v0.1.0', '0.1.0', false],
  ['v0.1.0', '0.1.9', false],
  ['v0.1.0', '0.2.0', true],
  ['v0.9.3', '1.0.0', true],
  ['v1.4.0', '1.5.0', false],
  ['v1.4.0', '2.0.0', true],
  ['v1.10.0', '1.9.0', false],
])('after %s the version %s may break: %s', (from, to, may) => {
  expect(mayBreak(from, to)).toBe(may);
});

describe('npm run check', { timeout: 120_000 }, () => {
  const broken = edited((_schemas, paths) => delete paths['/models']);

  /** The exit code, and what it says. */
  function check(directory: string): Promise<string> {
    const script = join(home, 'test/contract/check-breaking.ts');
    return new Promise((resolve) => {
      execFile(process.execPath, [script], { cwd: directory, timeout: 60_000 }, (error, stdout, stderr) => {
        resolve(`${error ? String(error.code) : '0'} ${stdout}${stderr}`);
      });
    });
  }

  const git = (directory: string, ...args: readonly string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', ...args],
      { cwd: directory, encoding: 'utf8', stdio: 'pipe' },
    );

  function commit(directory: string, message: string): void {
    git(directory, 'add', '.');
    git(directory, 'commit', '--quiet', '-m', message);
  }

  const compilerOptions = { module: 'nodenext', lib: ['es5'], types: [], noEmit: true };

  /** The rest is as small as can be. */
  const others = {
    ...Object.fromEntries(patches.map(([name]) => [`generated/${name}`, {}])),
    'tsconfig.build.json': {
      compilerOptions: { ...compilerOptions, noEmit: false, declaration: true, rootDir: 'src' },
      include: ['src'],
    },
    'src/index.ts': 'export const one = 1;\n',
    'examples/browser/page.ts': "import { one } from '@parlance/server';\nexport const two: number = one + one;\n",
    'test/fixtures/consumers/package/tsconfig.node.json': { compilerOptions, files: ['node.ts'] },
    'test/fixtures/consumers/package/node.ts': '',
    'test/fixtures/consumers/package/tsconfig.page.json': { compilerOptions },
  };

  const exports = { '.': { types: './dist/index.d.ts' } };
  const write = (directory: string, contract: string, version: string) =>
    writeFiles(directory, {
      'generated/openapi.json': contract,
      'package.json': { name: '@parlance/server', type: 'module', version, exports },
    });

  /** A repository with the published contract as its first commit, and a baseline that names it. */
  async function repository(): Promise<string> {
    const directory = await temporaryDirectory();
    await writeFiles(directory, others);
    await write(directory, published, '0.1.0');
    git(directory, 'init', '--quiet', '--initial-branch=main');
    commit(directory, 'first');
    await writeFiles(directory, { 'test/contract/baseline': `# comment\n${git(directory, 'rev-parse', 'HEAD')}` });
    commit(directory, 'second');
    return directory;
  }

  const breakOfModels = 'openapi.json: Path `/models` was removed. (#/paths/~1models)';
  const intend = (directory: string, line: string) =>
    appendFile(join(directory, 'test/contract/baseline'), `${line} because no one has called it\n`);

  test('compares with the commit of the baseline; an intended break has a line with its reason there', async () => {
    const directory = await repository();
    expect(await check(directory)).toMatch(/^0 nothing breaks [0-9a-f]{40}\n$/);
    await write(directory, broken, '0.1.0');
    await writeFiles(directory, { 'src/index.ts': "export const one = '1';\n" });
    const refused = await check(directory);
    expect(refused).toMatch(/^1 this breaks [0-9a-f]{40}/);
    expect(refused).toContain(`\n  ${breakOfModels}\n  types: examples/browser/page.ts(2,14): error TS2322: `);
    await writeFiles(directory, { 'src/index.ts': 'export const one = 1;\n' });
    await intend(directory, breakOfModels);
    expect(await check(directory)).toMatch(/^0 intended breaks of .*:\n {2}openapi\.json: Path/);
    await write(directory, published, '0.1.0');
    expect(await check(directory)).toMatch(/^1 lines of .* that match no break .*:\n {2}openapi\.json: Path/);
  });

  test('fails without the commit of the baseline', async () => {
    const directory = await repository();
    await writeFiles(directory, { 'test/contract/baseline': '1'.repeat(40) });
    expect(await check(directory)).toMatch(/^1 the commit 1{40} is missing/);
  });

  test('after a release, an intended break needs the version raised, too', async () => {
    const directory = await repository();
    git(directory, 'tag', 'v0.1.0');
    git(directory, 'tag', 'very-well');
    expect(await check(directory)).toBe('0 nothing breaks v0.1.0\n');
    await write(directory, broken, '0.1.1');
    await intend(directory, breakOfModels);
    expect(await check(directory)).toBe('1 0.1.1 must not break v0.1.0; raise the minor version in package.json\n');
    await write(directory, broken, '0.2.0');
    expect(await check(directory)).toMatch(/^0 intended breaks of v0\.1\.0/);
    commit(directory, 'third');
    git(directory, 'tag', 'v0.2.0');
    expect(await check(directory)).toBe('0 nothing breaks v0.2.0\n');
    git(directory, 'commit', '--quiet', '--allow-empty', '-m', 'fourth');
    expect(await check(directory)).toMatch(/^1 lines of .* v0\.2\.0/);
  });

  test('fetches what a clone of CI lacks: the commit of the baseline, then tags', async () => {
    const origin = await repository();
    await write(origin, broken, '0.1.1');
    commit(origin, 'third');
    const clone = async (...args: string[]) => {
      const directory = join(await temporaryDirectory(), 'clone');
      git(origin, 'clone', '--quiet', '--no-tags', ...args, pathToFileURL(origin).href, directory);
      return directory;
    };
    expect(await check(await clone('--depth=1'))).toMatch(/^1 this breaks [0-9a-f]{40}/);
    git(origin, 'tag', 'v0.1.0', 'HEAD~1');
    expect(await check(await clone('--depth=1'))).toMatch(/^1 this breaks v0\.1\.0/);
    const whole = await clone();
    expect(await check(whole)).toMatch(/^1 this breaks v0\.1\.0/);
    expect(git(whole, 'rev-parse', '--is-shallow-repository')).toBe('false\n');
  });
});
