/** What can be installed for the engines: one list, one state of each asset, whoever asks. */
import { hash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Asset, AssetGroup, MadeAsset, MakeCall, ModelEntry } from '../../../engines/contract/index.ts';
import { acquireLock, lockOf } from '../../../lib/file-lock.ts';
import { createHttpClient } from '../../../lib/http-client.ts';
import { Assets, type InstallRequest } from '../../../src/engine-host/assets/assets.ts';
import type { Declaring } from '../../../src/engine-host/assets/declarations.ts';
import { runProgram } from '../../../src/system/child-process/child.ts';
import { good, recordingLog, serve, status, type Answer } from '../../engines/whisper-cli/support.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const client = createHttpClient({});
afterAll(() => client[Symbol.asyncDispose]());
const { signal } = new AbortController();
const bytes = Buffer.from('a model '.repeat(1_000));

/** Something that is made by a test: `ends` lets it end. */
function program(dataDir: string, id = 'program', more: Partial<MadeAsset> = {}) {
  const [begun, ends] = [Promise.withResolvers<MakeCall>(), Promise.withResolvers<undefined>()];
  const made = { isThere: false, times: 0 };
  const asset: MadeAsset = {
    ...{ kind: 'made', id, title: `The ${id}`, bytes: 0, license: 'MIT', verb: 'building', source: 'npm' },
    path: join(dataDir, 'bin', id),
    isReady: () => made.isThere,
    async make(call) {
      made.times += 1;
      begun.resolve(call);
      await Promise.race([ends.promise, new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason as Error)))]); // prettier-ignore
      made.isThere = true;
    },
    ...more,
  };
  return { asset, made, begun: begun.promise, ends: () => ends.resolve(undefined) };
}

async function machine(...answers: readonly Answer[]) {
  const dataDir = join(await temporaryDirectory(), 'data');
  const site = await serve(...answers);
  const path = join(dataDir, 'models/base.bin');
  const model: Asset = {
    ...{ kind: 'files', id: 'base', title: 'The base', bytes: bytes.length, license: 'CC0' },
    files: [{ url: `${site.url}/base.bin`, path, bytes: bytes.length, digest: hash('sha256', bytes) }],
    isReady: () => readFile(path).then((found) => found.length > 100, () => false), // prettier-ignore
  };
  const context = { dataDir, env: process.env, fetch: client.fetch, log: recordingLog(), run: runProgram };
  const assets = new Assets();
  const declare = (by: string | Pick<Declaring, 'instance' | 'recheck'>, ...groups: AssetGroup[]) =>
    assets.declare({
      ...(typeof by === 'string' ? { instance: by } : by),
      ...{ capability: 'transcription', groups, context },
    });
  const entry: ModelEntry = { id: 'mine', local: true, needs: ['program', 'base'] };
  const install = (wanted: InstallRequest = {}) => assets.install(wanted, { signal });
  return { assets, dataDir, site, path, model, declare, entry, install };
}

describe('the list', () => {
  it('joins the groups of engines by their ids: an asset that they share counts once', async () => {
    const { assets, dataDir, model, declare } = await machine();
    const { asset } = program(dataDir);
    const single = { id: 'base', title: 'A model', purpose: 'Good for tests.', assets: [model], model: 'base' };
    declare('one', { id: 'voice', assets: [asset] }, single);
    declare('two', { id: 'voice', assets: [asset, model], isConfigured: true });
    expect(await assets.list()).toEqual([
      expect.objectContaining({ id: 'voice', title: 'A model', purpose: 'Good for tests.', serves: 'base', configured: true, bytes: bytes.length, license: 'MIT, CC0', source: expect.stringMatching(/^npm and 127\.0\.0\.1/) as string, state: 'missing', reason: 'Not installed.' }), // prettier-ignore
      expect.objectContaining({
        id: 'base',
        title: 'A model',
        configured: false,
        model: 'base',
        bytesLeft: bytes.length,
      }),
    ]);
  });

  it('names the assets of a group without models, and says how a model is served that the settings do not list', async () => {
    const { assets, dataDir, model, declare, install } = await machine(good(bytes));
    const { asset } = program(dataDir);
    const single = { id: 'base', title: 'A model', assets: [model], model: 'base', settings: 'models:\n  - base' };
    declare('one', { id: 'tools', assets: [asset, program(dataDir, 'other').asset] }, single);
    expect(await assets.find('tools')).toMatchObject({ title: 'The program and The other', purpose: '', serves: null });
    expect(await assets.find('base')).toMatchObject({ serves: null, reason: 'Not installed.' });
    await install({ id: 'base' });
    const reason = 'Installed. To use it, add this to the settings file and restart:\nmodels:\n  - base';
    expect(await assets.find('base')).toMatchObject({ state: 'ready', serves: null, reason });
  });

  it('says that an asset cannot be checked, and what another process is working on', async () => {
    const { assets, dataDir, declare, entry } = await machine();
    const broken = program(dataDir, 'program', { isReady: () => Promise.reject(new Error('the disk is gone')) });
    declare('one', { id: 'all', assets: [broken.asset] });
    await assets.check();
    expect(assets.availabilityOf(entry)).toMatchObject({ code: 'program-missing', reason: expect.stringContaining('the disk is gone') as string }); // prettier-ignore
    const other = program(dataDir, 'other');
    declare('two', { id: 'other', assets: [other.asset] });
    const lock = await acquireLock(lockOf(other.asset.path), { signal });
    await assets.check();
    expect(await assets.find('other')).toMatchObject({ state: 'preparing', reason: 'Installing (another process is building The other).' }); // prettier-ignore
    lock[Symbol.dispose]();
    await assets.check();
    expect(await assets.find('other')).toMatchObject({ state: 'missing' });
  });

  it('says how far the download of another process is', async () => {
    const { assets, path, model, declare } = await machine();
    declare('one', { id: 'base', assets: [model], model: 'base' });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.part`, bytes.subarray(0, bytes.length / 4));
    using _lock = await acquireLock(lockOf(path), { signal });
    const reason = 'Installing (another process is downloading The base: 25 %).';
    await assets.check();
    expect(await assets.find('base')).toMatchObject({ state: 'preparing', progress: 0.25, reason });
  });

  it('has the license of the optional assets if a group needs no others', async () => {
    const { assets, dataDir, declare } = await machine();
    declare('one', { id: 'all', assets: [], extras: [program(dataDir).asset], isAutomatic: true });
    expect(await assets.find('all')).toMatchObject({ license: 'MIT', command: 'npm run setup' });
  });

  it('lists what an engine lacks, with the command of the group that installs it', async () => {
    const { assets, dataDir, model, declare } = await machine();
    const { asset } = program(dataDir, 'program', { obstacle: () => 'it cannot be built without cmake' });
    declare('one', { id: 'all', assets: [asset], isConfigured: true, isAutomatic: true });
    declare('one', { id: 'chat', assets: [model], isConfigured: true });
    expect(assets.lackingOf('one')).toMatchObject([
      { asset: { id: 'program' }, command: 'npm run setup', obstacle: 'it cannot be built without cmake' },
      { asset: { id: 'base' }, command: 'npm run setup -- chat', obstacle: undefined },
    ]);
  });
});

describe('what is installed', () => {
  it('is what starts unasked, or what is named; extras come with it where the operator asks', async () => {
    const { assets, dataDir, declare, install } = await machine();
    const [start, named, extra] = ['start', 'named', 'extra'].map((id) => program(dataDir, id));
    for (const one of [start!, named!, extra!]) one.ends();
    declare('one', { id: 'transcription', assets: [start!.asset], extras: [extra!.asset], isAutomatic: true }, { id: 'named', assets: [named!.asset] }); // prettier-ignore
    const times = () => [start!, named!, extra!].map(({ made }) => made.times);
    expect(await install({ withoutTranscription: true })).toEqual([]);
    expect(times()).toEqual([0, 0, 0]);
    await install({ also: ['named'], withoutTranscription: true });
    expect(times()).toEqual([0, 1, 0]);
    await install();
    expect(times()).toEqual([1, 1, 0]);
    await install({ isExplicit: true });
    await install({ id: 'named', isExplicit: true });
    expect(times()).toEqual([1, 1, 1]);
    expect((await assets.list()).map(({ state }) => state)).toEqual(['ready', 'ready']);
  });

  it('is installed once, whoever asks; both see how far it is', async () => {
    const { assets, dataDir, declare, install, entry } = await machine();
    const { asset, made, begun, ends } = program(dataDir);
    declare('one', { id: 'all', assets: [asset], isAutomatic: true });
    const all = [install(), install({ id: 'all' })];
    (await begun).progress(0.42);
    expect(assets.availabilityOf(entry)).toEqual({ available: false, code: 'preparing', reason: 'Installing (building The program: 42 %).', progress: 0.42 }); // prettier-ignore
    ends();
    expect(await Promise.all(all)).toEqual([[], []]);
    expect(made.times).toBe(1);
    expect(assets.availabilityOf(entry)).toBeUndefined();
  });

  it('does not wait for what it does not need: a download ends, or fails, during a build', async () => {
    const { assets, dataDir, model, declare, entry, path } = await machine(status(404), good(bytes));
    const { asset, begun, ends } = program(dataDir);
    declare('one', { id: 'all', assets: [asset, model], isAutomatic: true });
    const failed = Promise.withResolvers<Error>();
    const all = assets.install({}, { signal, onFailure: (_asset, error) => failed.resolve(error) });
    await begun;
    expect((await failed.promise).message).toMatch(/answered 404 Not Found\. Without a network, copy it to .*base\.bin manually$/); // prettier-ignore
    const said = assets.availabilityOf(entry);
    expect(said).toMatchObject({ code: 'model-file-missing', reason: /^The base is not installed: .*404.*\. Run `npm run setup` to try again\.$/ }); // prettier-ignore
    const offer = await assets.find('all');
    expect(offer).toMatchObject({ state: 'preparing', reason: /^Installing \(building The program\)\. The base is not installed: .*404/ }); // prettier-ignore
    ends();
    expect(await all).toHaveLength(1);
    expect(await assets.find('all')).toMatchObject({ state: 'failed' });
    expect(await assets.install({ id: 'all' }, { signal })).toEqual([]);
    expect(await readFile(path)).toEqual(bytes);
  });

  it('is stopped, which is no failure, and continues when it is asked for again', async () => {
    const { assets, dataDir, declare } = await machine();
    const { asset, made, begun, ends } = program(dataDir);
    declare('one', { id: 'all', assets: [asset] });
    const all = assets.install({ id: 'all' }, { signal });
    await begun;
    await assets.stop('all');
    expect(await all).toEqual([]);
    expect(await assets.find('all')).toMatchObject({ state: 'missing', reason: /^Stopped/ });
    ends();
    await assets.install({ id: 'all' }, { signal });
    expect(made).toEqual({ isThere: true, times: 2 });
  });

  it('that others need continues when one of them is stopped; a further model that shares it is not in progress', async () => {
    const { assets, dataDir, model, declare } = await machine(() => {}); // an answer that never comes
    const { asset, made, begun, ends } = program(dataDir);
    const other: Asset = { ...asset, id: 'other', title: 'The other', isReady: () => false };
    declare('one', { id: 'all', assets: [asset], isConfigured: true }, { id: 'base', assets: [asset, model], model: 'base' }, { id: 'other', assets: [asset, other], model: 'other' }); // prettier-ignore
    const all = [assets.install({ id: 'all' }, { signal }), assets.install({ id: 'base' }, { signal })];
    await begun;
    await expect.poll(async () => (await assets.find('base'))?.reason).toContain('downloading The base: 0 %');
    expect(await assets.find('other')).toMatchObject({ state: 'missing', reason: 'Not installed.' });
    await assets.stop('base');
    expect(await assets.find('base')).toMatchObject({ state: 'missing', reason: /^Stopped/ });
    expect(await assets.find('all')).toMatchObject({ state: 'preparing' });
    ends();
    expect(await Promise.all(all)).toEqual([[], []]);
    expect(made).toEqual({ isThere: true, times: 1 });
  });

  it('is stopped at once where it waits behind another download', async () => {
    const { assets, model, declare } = await machine(() => {}); // an answer that never comes
    const next: Asset = { ...model, id: 'next', title: 'The next', isReady: () => false };
    declare('one', { id: 'base', assets: [model] }, { id: 'next', assets: [next] });
    const ended = new AbortController();
    const all = assets.install({ also: ['base', 'next'] }, { signal: ended.signal });
    await expect.poll(async () => (await assets.find('next'))?.state).toBe('preparing');
    await assets.stop('next');
    expect(await assets.find('base')).toMatchObject({ state: 'preparing' });
    expect(await assets.find('next')).toMatchObject({ reason: /^Stopped/ });
    ended.abort(new Error('enough'));
    await expect(all).rejects.toThrow('enough');
  });

  it('ends with its signal, whose reason it rejects with', async () => {
    const { assets, dataDir, declare } = await machine();
    const { asset, begun } = program(dataDir);
    const ended = new AbortController();
    declare('one', { id: 'all', assets: [asset] });
    const all = assets.install({ id: 'all' }, { signal: ended.signal });
    await begun;
    ended.abort(new Error('stopped by SIGINT'));
    await expect(all).rejects.toThrow('stopped by SIGINT');
    expect(await assets.find('all')).toMatchObject({ state: 'missing', reason: 'Not installed.' });
  });

  it('is waited for where another process is working on it', async () => {
    const { assets, dataDir, declare } = await machine();
    let remembered = false; // as engines remember a search
    const { asset, made } = program(dataDir, 'program', { isReady: () => remembered });
    const recheck = () => Promise.resolve(void (remembered = made.isThere));
    declare({ instance: 'one', recheck }, { id: 'all', assets: [asset] });
    const lock = await acquireLock(lockOf(asset.path), { signal });
    const waits = Promise.withResolvers<string>();
    const all = assets.install({ id: 'all' }, { signal, onStep: (_id, { doing }) => doing.startsWith('another') && waits.resolve(doing) }); // prettier-ignore
    expect(await waits.promise).toBe('another process is building The program');
    made.isThere = true;
    lock[Symbol.dispose]();
    expect(await all).toEqual([]);
    expect(made.times).toBe(0);
  });

  it('replaces no file of somebody else, and removes none; a removal waits for no download of others', async () => {
    const { assets, dataDir, model, path, declare, site, install } = await machine(good(bytes));
    declare('one', { id: 'base', assets: [model], model: 'base' });
    expect(await assets.remove('base', signal)).toBe(false);
    expect(await install({ id: 'base' })).toEqual([]);
    expect(await assets.remove('base', signal)).toBe(true);
    await writeFile(path, 'mine '.repeat(100));
    expect(await install({ id: 'base' })).toEqual([]);
    expect(site.requests).toHaveLength(1);
    await expect(assets.remove('base', signal)).rejects.toThrow('was not downloaded by Parlance');
    using _lock = await acquireLock(lockOf(path), { signal });
    await expect(assets.remove('base', signal)).rejects.toThrow('is being downloaded');
    expect(dataDir).not.toBe('');
  });
});

describe('an entry whose assets are missing', () => {
  it('says how to get the first of them, and what stands in the way', async () => {
    const { assets, dataDir, model, declare, entry } = await machine();
    const { asset, made } = program(dataDir, 'program', { obstacle: () => 'it cannot be built without cmake: run `apt-get install cmake`' }); // prettier-ignore
    declare('one', { id: 'all', assets: [asset, model], isConfigured: true, isAutomatic: true });
    declare('two', { id: 'base', assets: [model], model: 'base' });
    const said = async () => (await assets.check(), assets.availabilityOf(entry)?.reason);
    expect(await said()).toBe('The program is not installed, and it cannot be built without cmake: run `apt-get install cmake`, then `npm run setup`.'); // prettier-ignore
    made.isThere = true;
    expect(await said()).toBe('The base is not installed: run `npm run setup`.'); // prettier-ignore
    expect(assets.availabilityOf({})).toBeUndefined();
  });
});
