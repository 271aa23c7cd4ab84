import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EngineContext, Logger } from '../../../engines/contract/index.ts';
import { defaultModel } from '../../../src/engine-host/models/model-selection.ts';
import { createRegistry, type RegistryOptions } from '../../../src/engine-host/registry/registry.ts';
import { RegistryError } from '../../../src/engine-host/registry/registry-error.ts';
import { createKey } from '../../../src/keys/key.ts';
import { runInScope } from '../../../src/request-scope.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';

/** Serves what its option `models` says, and tells the log when it ends. */
const tiny = `
  export default {
    contract: 1,
    name: 'tiny',
    capability: 'transcription',
    options: {
      type: 'object',
      additionalProperties: false,
      properties: {
        models: { type: 'array', items: { type: 'object' } },
        apiKey: { type: 'string', minLength: 8 },
        speed: { enum: ['slow', 'fast'] },
      },
    },
    create: ({ models }, context) => ({
      models: models ?? [{ id: context.instance, local: true }],
      transcribe: async ({ model }) => ({ text: 'transcribed by ' + model, language: null }),
      // For those that say they chat or speak: no one asks them to.
      async *complete() {},
      synthesize: async () => undefined,
      [Symbol.asyncDispose]: async () => context.log.info({}, context.instance + ' has ended'),
    }),
  };`;

/** A module that exports the tiny engine with other members. */
const tinyWith = (members: string, tinyPath = './tiny.js') =>
  `import tiny from '${tinyPath}'; export default { ...tiny, ${members} };`;

const local = (id: string) => ({ id, local: true });
const remote = (id: string) => ({ id, local: false });

let home: string;
let said: string[];

beforeEach(async () => {
  home = await temporaryDirectory();
  said = [];
  await writeFiles(home, {
    'package.json': { type: 'module' },
    'tiny.js': tiny,
    'built-in/tiny/index.js': tiny,
    'built-in/typed/index.ts': tinyWith(`name: 'typed' as const`, '../../tiny.js'),
    'built-in/lib/shared.js': 'export const shared = 1;',
    'built-in/contract.js': tiny,
  });
});

type Instances = RegistryOptions['instances'];

async function open(instances: Instances, options: Partial<RegistryOptions> = {}) {
  const note = (_facts: object, message: string) => void said.push(message);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  return createRegistry({
    instances,
    baseDir: home,
    builtIns: join(home, 'built-in'),
    defaults: {},
    contextFor: (instance, { publish }) => ({ instance, log, publish }) as EngineContext,
    ...options,
  });
}

/** What the start says when it is refused. */
async function refusal(instances: Instances, options?: Partial<RegistryOptions>): Promise<string> {
  const outcome = await open(instances, options).catch((error: unknown) => error);
  if (!(outcome instanceof RegistryError)) throw new Error('the start was not refused', { cause: outcome });
  return outcome.message;
}

const idsOf = (models: readonly { readonly id: string }[]) => models.map(({ id }) => id);

describe('`use:` finds an engine', () => {
  async function expectFound(use: string) {
    const registry = await open({ mine: { use } });
    expect(registry.of('transcription').all).toMatchObject([{ id: 'mine', instance: 'mine' }]);
  }

  it('among the built-in folders, as JavaScript and as TypeScript', async () => {
    await expectFound('tiny');
    await expectFound('typed');
  });

  it('in a folder that was just added to them', async () => {
    await writeFiles(home, { 'built-in/brand-new/index.js': tiny });
    await expectFound('brand-new');
  });

  it('by a path relative to the settings file, and by an absolute one', async () => {
    await expectFound('./tiny.js');
    await expectFound('./built-in/../tiny.js');
    await expectFound(join(home, 'tiny.js'));
  });

  it('as a built-in rather than as a package of the same name', async () => {
    await writeFiles(home, {
      'node_modules/tiny/package.json': { main: 'index.js' },
      'node_modules/tiny/index.js': 'throw new Error("the package was taken")',
    });
    await expectFound('tiny');
  });

  const commonJs = tiny.replace('export default', 'module.exports =');
  const packages: Record<string, { manifest: object; files: Record<string, string>; name?: string }> = {
    'a CommonJS main': { manifest: { main: 'lib/engine' }, files: { 'lib/engine.js': commonJs } },
    'no main but an index.js': { manifest: {}, files: { 'index.js': commonJs } },
    'exports of one module': { manifest: { type: 'module', exports: './index.js' }, files: { 'index.js': tiny } },
    'exports for `import` only': {
      manifest: { type: 'module', exports: { '.': { types: './index.d.ts', import: './index.js' } } },
      files: { 'index.js': tiny },
    },
    'conditions without a path': {
      manifest: { type: 'module', exports: { browser: './no.js', import: './index.js' } },
      files: { 'index.js': tiny },
    },
    'nested conditions, of which `import` is the first that holds': {
      manifest: { exports: { '.': { browser: './no.js', import: { node: './index.mjs' }, require: './no.cjs' } } },
      files: { 'index.mjs': tiny, 'no.cjs': 'throw new Error("the one for require was taken")' },
    },
    'a scoped name': {
      manifest: { type: 'module', exports: { '.': { import: './index.js' } } },
      files: { 'index.js': tiny },
      name: '@voices/engine',
    },
    'a module below its name': {
      manifest: { type: 'module', exports: { '.': './no.js', './small': './small.js' } },
      files: { 'small.js': tiny },
      name: 'a-package/small',
    },
  };
  it.each(Object.entries(packages))('in an installed package with %s', async (_what, package_) => {
    const { manifest, files, name = 'a-package' } = package_;
    const folder = `node_modules/${name.replace('/small', '')}`;
    const paths = Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]);
    await writeFiles(home, { [`${folder}/package.json`]: manifest, ...(Object.fromEntries(paths) as object) });
    await expectFound(name);
  });

  it.each([
    ['exports', { type: 'module', exports: './index.js' }, tiny],
    ['a CommonJS main', { main: 'index.js' }, commonJs],
  ])('in the folder of a package with %s', async (_what, manifest, index) => {
    await writeFiles(home, { 'own/package.json': manifest, 'own/index.js': index });
    await expectFound('./own');
  });

  it('and takes every engine of a module that exports a list', async () => {
    await writeFiles(home, {
      'several.js': `import tiny from './tiny.js'; export default [tiny, { ...tiny, capability: 'speech' }];`,
    });
    const registry = await open({ both: { use: './several.js' } });
    expect(idsOf(registry.of('transcription').all)).toEqual(['both']);
    expect(idsOf(registry.of('speech').all)).toEqual(['both']);
    expect(registry.of('chat').all).toEqual([]);
  });
});

describe('a start is refused', () => {
  it('for a `use` that is no engine, with the built-in names', async () => {
    const hint = 'use one of tiny, typed, a path such as ./my-engine.js, or the name of an installed package';
    for (const use of ['huge', 'fs', 'node:fs', 'http://127.0.0.1/engine.js', '']) {
      expect(await refusal({ mine: { use } })).toBe(`engines.mine.use: unknown engine "${use}"; ${hint}`);
    }
  });

  it('for a `use` that is a path to no file, with the whole path', async () => {
    for (const [use, hint] of [
      ['./nowhere.js', `there is no file ${join(home, 'nowhere.js')}`],
      ['/nowhere.js', 'there is no file /nowhere.js'],
      ['./built-in', `the folder ${join(home, 'built-in')} has no package.json`],
    ] as const) {
      expect(await refusal({ mine: { use } })).toBe(`engines.mine.use: unknown engine "${use}"; ${hint}`);
    }
  });

  it.each([
    ['no JSON', '{ "name": "broken', 'package.json is not valid JSON'],
    ['no module', '{}', "Cannot find module 'broken'"],
    ['a module that is not there', '{ "main": "gone.js" }', 'gone.js'],
    ['nothing to import', '{ "exports": { "./other": "./other.js" } }', 'No "exports" main defined'],
  ])('for an installed package whose package.json has %s, which is named', async (_what, manifest, says) => {
    await writeFiles(home, { 'node_modules/broken/package.json': manifest });
    const said = await refusal({ mine: { use: 'broken' } });
    expect(said).toMatch(/^engines\.mine\.use: the package broken cannot be used: /);
    expect(said).toContain(says);
  });

  const broken: Record<string, { module: string; says: string }> = {
    'has no default export': {
      module: 'export const engine = 1;',
      says: 'has no engine as its default export; export default defineEngine({...})',
    },
    'exports something else by default': {
      module: 'export default () => "an engine";',
      says: 'has no engine as its default export; export default defineEngine({...})',
    },
    'exports an empty list': { module: 'export default [];', says: 'exports an empty list of engines' },
    'is written for another contract': {
      module: tinyWith('contract: 2'),
      says: 'is written for version 2 of the engine contract; this is version 1',
    },
    'has no name': { module: tinyWith(`name: ''`), says: 'has no engine name' },
    'has another capability': {
      module: tinyWith(`capability: 'singing'`),
      says: 'has the capability "singing"; known: transcription, chat, speech',
    },
    'has no options': {
      module: tinyWith('options: undefined'),
      says: 'has no `options`, the JSON Schema of its settings',
    },
    'has no create': { module: tinyWith('create: undefined'), says: 'has no function `create`' },
    'throws while it loads': {
      module: 'throw new Error("no license");',
      says: 'cannot be loaded: no license',
    },
    'throws what is no error while it loads': { module: 'throw "a tantrum";', says: 'cannot be loaded: a tantrum' },
  };
  it.each(Object.entries(broken))('for a module that %s', async (_what, { module, says }) => {
    await writeFiles(home, { 'broken.js': module });
    expect(await refusal({ mine: { use: './broken.js' } })).toBe(
      `engines.mine.use: ${join(home, 'broken.js')} ${says}`,
    );
  });

  it('for the folder of a package that was not built, with the file that is missing', async () => {
    await writeFiles(home, { 'own/package.json': { type: 'module', exports: './dist/index.js' } });
    expect(await refusal({ mine: { use: './own' } })).toMatch(/^engines\.mine\.use: .*own\/dist\/index\.js/);
  });

  it('for a package that lacks one of its own dependencies, which is named', async () => {
    await writeFiles(home, {
      'node_modules/needy/package.json': { type: 'module', exports: './index.js' },
      'node_modules/needy/index.js': `import 'left-out';`,
    });
    expect(await refusal({ mine: { use: 'needy' } })).toMatch(/needy\/index\.js cannot be loaded: .*left-out/);
  });

  const failing: Record<string, { members: string; says: string }> = {
    'cannot be created': {
      members: `create() { throw new Error('the socket is taken'); }`,
      says: 'the engine tiny could not be created: the socket is taken',
    },
    'cannot be created, as it finds out later': {
      members: `async create() { throw new Error('the socket is taken'); }`,
      says: 'the engine tiny could not be created: the socket is taken',
    },
    'has options that are no schema': {
      members: `options: { type: 'objekt' }`,
      says: 'the `options` of the engine tiny are not a valid JSON Schema: ',
    },
    'is nothing': { members: 'create() {}', says: 'the engine tiny has no function `transcribe`' },
    'cannot do what it is there for': {
      members: `create: () => ({ models: [] })`,
      says: 'the engine tiny has no function `transcribe`',
    },
  };
  it.each(Object.entries(failing))('for an engine that %s, with the name of the instance', async (_what, engine) => {
    await writeFiles(home, { 'failing.js': tinyWith(engine.members) });
    expect(await refusal({ mine: { use: './failing.js' } })).toContain(`engines.mine: ${engine.says}`);
  });

  it('for a wrong option, with the right ones', async () => {
    expect(await refusal({ mine: { use: 'tiny', model: [] } })).toBe(
      'engines.mine: unknown setting "model"; did you mean "models"?',
    );
    expect(await refusal({ mine: { use: 'tiny', speed: 'warp' } })).toBe(
      'engines.mine.speed: "warp" is not allowed: it must be one of slow, fast',
    );
    expect(await refusal({ mine: { use: 'tiny', models: [local('a'), 'b'] } })).toBe(
      'engines.mine.models.1: "b" is not allowed: it must be a mapping',
    );
  });

  it('for a wrong key, without showing it', async () => {
    const message = await refusal({ mine: { use: 'tiny', apiKey: 'sesame' } });
    expect(message).toMatch(/^engines\.mine\.apiKey: its value is not allowed/);
    expect(message).not.toContain('sesame');
  });

  it('for a key of digits without quotes, without showing it', async () => {
    expect(await refusal({ mine: { use: 'tiny', apiKey: 12345678 } })).toBe(
      'engines.mine.apiKey: its value is not allowed: it must be a string; put quotes around it: `apiKey: "..."`',
    );
  });

  it('for an id that one instance lists twice', async () => {
    expect(await refusal({ mine: { use: 'tiny', models: [local('a'), local('b'), remote('a')] } })).toBe(
      'the transcription model "a" must be unique: engines.mine lists it twice',
    );
  });

  it('for an id that two instances list', async () => {
    const instances = { one: { use: 'tiny', models: [local('a')] }, two: { use: 'tiny', models: [local('a')] } };
    expect(await refusal(instances)).toBe(
      'the transcription model "a" must be unique: engines.one and engines.two both list it',
    );
  });

  it('for a default model that no engine serves, with those that are served', async () => {
    const instances = { one: { use: 'tiny', models: [local('a'), local('b')] } };
    expect(await refusal(instances, { defaults: { transcription: 'c' } })).toBe(
      'TRANSCRIBE_MODEL (in the file: transcribeModel): no engine serves the transcription model "c"; known: a, b',
    );
  });

  it('for two engines of one capability under one name', async () => {
    expect(await refusal({ twins: [{ use: 'tiny' }, { use: 'tiny' }] })).toContain(
      'engines.twins: two engines for transcription; give each its own name',
    );
    expect(said).toEqual(['twins has ended', 'twins has ended']);
  });

  it('for a mistake in a list, with its place', async () => {
    expect(await refusal({ mine: [{ use: 'tiny' }, { use: 'typo' }] })).toMatch(
      /^engines\.mine\[1\]\.use: unknown engine "typo"; use one of/,
    );
  });

  it('not for a default that its instance may find out later', async () => {
    const registry = await open(
      { far: { use: 'tiny', models: [] }, near: { use: 'tiny', models: [local('a')] } },
      { defaults: { transcription: 'far/m-1' } },
    );
    expect(registry.of('transcription').default).toBeUndefined();
  });

  it('once for all mistakes', async () => {
    await writeFiles(home, { 'failing.js': tinyWith(`create() { throw new Error('boom'); }`) });
    const message = await refusal({
      typo: { use: 'tinny' },
      wrong: { use: 'tiny', spede: 1, speed: 'warp' },
      fine: { use: 'tiny', models: [local('a'), local('a')] },
      failing: { use: './failing.js' },
    });
    expect(message.split('\n')).toEqual([
      expect.stringMatching(/^engines\.typo\.use: unknown engine "tinny"; did you mean tiny\? use one of/),
      'engines.wrong: unknown setting "spede"; did you mean "speed"?',
      expect.stringMatching(/^engines\.wrong\.speed: "warp" is not allowed/),
      'the transcription model "a" must be unique: engines.fine lists it twice',
      'engines.failing: the engine tiny could not be created: boom',
    ]);
  });
});

describe('models', () => {
  it('bear the ids of the settings, in the order of the settings', async () => {
    const registry = await open({
      b: { use: 'tiny', models: [remote('z'), local('y')] },
      a: { use: 'tiny', models: [local('x')] },
    });
    expect(idsOf(registry.of('transcription').all)).toEqual(['z', 'y', 'x']);
  });

  it('that were discovered bear the name of their instance, and are called by their own', async () => {
    const models = [{ ...remote('m-1'), discovered: true }];
    const registry = await open({ east: { use: 'tiny', models }, west: { use: 'tiny', models } });
    const served = registry.of('transcription').all;
    expect(idsOf(served)).toEqual(['east/m-1', 'west/m-1']);
    const [east] = served;
    expect(east).toMatchObject({ engineId: 'm-1', instance: 'east' });
    const call = { model: east!.engineId, recording: { path: '', bytes: 1, container: 'wav', mediaType: '' } } as const;
    const { text } = await east!.engine.transcribe(call, { signal: AbortSignal.timeout(1000) });
    expect(text).toBe('transcribed by m-1');
  });

  it('of one provider for several capabilities bear one name', async () => {
    await writeFiles(home, { 'speaker.js': tinyWith(`capability: 'speech'`) });
    const registry = await open({ mine: [{ use: 'tiny' }, { use: './speaker.js' }] });
    for (const capability of ['transcription', 'speech'] as const) {
      expect(registry.of(capability).all).toMatchObject([{ id: 'mine', instance: 'mine' }]);
      expect(registry.of(capability).instances).toEqual(['mine']);
    }
    expect(registry.of('chat').instances).toEqual([]);
  });

  it('of one id may serve several capabilities', async () => {
    await writeFiles(home, { 'speaker.js': tinyWith(`capability: 'speech'`) });
    const models = [local('a')];
    const registry = await open({ ear: { use: 'tiny', models }, mouth: { use: './speaker.js', models } });
    expect(idsOf(registry.of('transcription').all)).toEqual(['a']);
    expect(idsOf(registry.of('speech').all)).toEqual(['a']);
  });
});

describe('the default', () => {
  const models = [remote('far'), local('near'), local('nearer')];

  async function defaultId(capability: 'transcription' | 'chat' | 'speech', options?: Partial<RegistryOptions>) {
    await writeFiles(home, { [`${capability}.js`]: tinyWith(`capability: '${capability}'`) });
    const registry = await open({ mine: { use: `./${capability}.js`, models } }, options);
    return registry.of(capability).default?.id;
  }

  it('is what the setting says', async () => {
    expect(await defaultId('transcription', { defaults: { transcription: 'nearer' } })).toBe('nearer');
    expect(await defaultId('chat', { defaults: { chat: 'nearer' } })).toBe('nearer');
  });

  it('is the first local model when the settings say nothing', async () => {
    expect(await defaultId('transcription')).toBe('near');
    expect(await defaultId('speech')).toBe('near');
  });

  it('is, for chat, the first model when the settings say nothing', async () => {
    expect(await defaultId('chat')).toBe('far');
  });

  it('is the first model where none is local', async () => {
    const registry = await open({ mine: { use: 'tiny', models: [remote('far'), remote('farther')] } });
    expect(registry.of('transcription').default?.id).toBe('far');
  });

  it('of an API key that may not use it is the first that it may use, of what the engine publishes', async () => {
    let ears = {} as EngineContext;
    const contextFor: RegistryOptions['contextFor'] = (instance, { publish }) =>
      (ears = { instance, publish } as EngineContext);
    const registry = await open({ ears: { use: 'tiny', models: [local('one'), local('two')] } }, { contextFor });
    const key = createKey('narrow', { models: ['two', 'three'] });
    const defaultOfKey = () => runInScope({ caller: 'narrow', key }, defaultModel, registry, 'transcription')?.id;
    expect(defaultOfKey()).toBe('two');
    ears.publish([local('one'), local('three')]);
    expect(defaultOfKey()).toBe('three');
    expect(defaultModel(registry, 'transcription')?.id).toBe('one');
  });

  it('does not exist where nothing is served', async () => {
    const registry = await open({});
    expect(registry.of('speech').default).toBeUndefined();
  });
});

describe('engines are ended', () => {
  it('with the registry, and one that fails to end does not stop the others', async () => {
    await writeFiles(home, {
      'sticky.js': `import tiny from './tiny.js';
        const create = (...call) => ({ ...tiny.create(...call), [Symbol.asyncDispose]() { throw new Error('stuck'); } });
        export default { ...tiny, create };`,
    });
    const registry = await open({ one: { use: 'tiny' }, sticky: { use: './sticky.js' }, two: { use: 'tiny' } });
    expect(said).toEqual([]);
    await registry[Symbol.asyncDispose]();
    expect(said).toEqual(['one has ended', 'two has ended', 'the engine failed to shut down']);
  });

  it('when the start is refused for another one', async () => {
    await writeFiles(home, {
      'several.js': `import tiny from './tiny.js';
        export default [tiny, { ...tiny, create() { throw new Error('boom'); } }];`,
    });
    await refusal({ one: { use: 'tiny' }, wrong: { use: 'tinny' }, list: { use: './several.js' } });
    expect(said.slice(-2)).toEqual(['one has ended', 'list has ended']);
  });

  it('when the start is refused for a clash', async () => {
    await refusal({ one: { use: 'tiny', models: [local('a'), local('a')] } });
    expect(said).toEqual(['one has ended']);
  });

  it('when the service itself fails to lend something', async () => {
    const contextFor = (instance: string) => {
      if (instance === 'two') throw new Error('no context');
      return { instance, log: { info: (_facts: object, message: string) => said.push(message) } } as never;
    };
    expect(await refusal({ one: { use: 'tiny' }, two: { use: 'tiny' } }, { contextFor })).toContain('no context');
    expect(said).toEqual(['one has ended']);
  });
});
