/** Breaks of the contract are found, additions are none, and `npm run check` fails on a break that no version announces. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';
import { findBreaks, mayBreak } from './breaking.ts';

const home = join(import.meta.dirname, '../..');
const published = await readFile(join(home, 'generated/openapi.json'), 'utf8');

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
    /Event `tool\.progress` was removed/,
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

  test('identical contracts have no breaks', async () => {
    expect(await findBreaks(published, published)).toEqual([]);
  });
});

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
      {
        cwd: directory,
        stdio: 'pipe',
      },
    );

  async function write(directory: string, contract: string, version: string): Promise<void> {
    await mkdir(join(directory, 'generated'), { recursive: true });
    await writeFile(join(directory, 'generated/openapi.json'), contract);
    await writeFile(join(directory, 'package.json'), JSON.stringify({ version }));
  }

  /** A repository with the published contract as its first commit. */
  async function repository(): Promise<string> {
    const directory = await temporaryDirectory();
    await write(directory, published, '0.1.0');
    git(directory, 'init', '--quiet', '--initial-branch=main');
    git(directory, 'add', '.');
    git(directory, 'commit', '--quiet', '-m', 'first');
    return directory;
  }

  test('passes with a message when nothing has been released yet', async () => {
    const directory = await repository();
    await write(directory, broken, '0.1.0');
    expect(await check(directory)).toMatch(/^0 no release/);
  });

  test('fails on a breaking change until the version is raised', async () => {
    const directory = await repository();
    git(directory, 'tag', 'v0.1.0');
    git(directory, 'tag', 'very-well');
    expect(await check(directory)).toBe('0 nothing breaks v0.1.0\n');
    await write(directory, broken, '0.1.1');
    const refused = await check(directory);
    expect(refused).toMatch(/^1 this breaks v0\.1\.0; raise the minor version in package\.json \(now 0\.1\.1\)/);
    expect(refused).toContain('Path `/models` was removed.');
    await write(directory, broken, '0.2.0');
    expect(await check(directory)).toMatch(/^0 0\.2\.0 may break v0\.1\.0, and does:\n {2}Path/);
  });

  test('fetches tags missing in a CI clone', async () => {
    const origin = await repository();
    git(origin, 'tag', 'v0.1.0');
    await write(origin, broken, '0.1.1');
    git(origin, 'commit', '--quiet', '-am', 'second');
    const clone = join(await temporaryDirectory(), 'clone');
    git(origin, 'clone', '--quiet', '--depth=1', '--no-tags', pathToFileURL(origin).href, clone);
    expect(await check(clone)).toMatch(/^1 this breaks v0\.1\.0/);
  });
});
