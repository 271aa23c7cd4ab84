/** What the tests of the kit share: engines written as source, and the kit run on them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runChecks, type Check } from '../../src/conformance/kit.ts';
import { openerOf } from '../../src/conformance/open.ts';
import type { Subject } from '../../src/conformance/subject.ts';
import { writeFiles } from '../support/temporary.ts';

/** A directory for all tests of a file. */
export function sharedDirectory(): { readonly path: string } {
  const directory = { path: '' };
  beforeAll(async () => {
    directory.path = await mkdtemp(join(tmpdir(), 'parlance-conformance-'));
  });
  afterAll(async () => rm(directory.path, { recursive: true, force: true }));
  return directory;
}

export interface KitUnderTest<S extends Subject> {
  readonly checks: readonly Check<S>[];
  /** Source of an engine that keeps every rule; exports its `parts`, and `engineOf(parts)`. */
  readonly good: string;
  /** Engines that keep every rule: what differs from the good one, as source. */
  readonly alsoGood?: Readonly<Record<string, string>>;
  /** For each rule, engines that break it: what differs from the good one, as source. */
  readonly bad: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly toSubject: (subject: Subject) => S;
}

/** Every rule catches an engine that breaks it, and none catches one that keeps them all. */
export function describeKit<S extends Subject>(
  name: string,
  { checks, good, alsoGood = {}, bad, toSubject }: KitUnderTest<S>,
): void {
  describe(`the kit for ${name}`, () => {
    const directory = sharedDirectory();
    let made = 0;

    async function subjectFrom(source: string): Promise<S> {
      const folder = join(directory.path, `engine-${made++}`);
      await writeFiles(folder, { 'package.json': { type: 'module' }, 'good.js': good, 'engine.js': source });
      return toSubject({ options: { volume: 'loud' }, open: openerOf(join(folder, 'engine.js'), folder) });
    }

    const differing = (difference: string) =>
      subjectFrom(`
        import { spawn } from 'node:child_process';
        import { mkdtemp } from 'node:fs/promises';
        import { connect, createServer } from 'node:net';
        import { tmpdir } from 'node:os';
        import { setTimeout as sleep } from 'node:timers/promises';
        // In steps, as the kit counts: a stall of the machine is as short for both.
        const aSecond = async () => { for (let step = 0; step < 100; step += 1) await sleep(10); };
        const voiceAsset = { kind: 'files', id: 'voice', title: 'A voice', bytes: 1, license: 'MIT', files: [], isReady: () => true };
        import { engineOf, parts } from './good.js';
        export default engineOf({ ...parts, ${difference} });`);

    const engines = Object.entries({ 'keeps every rule': '', ...alsoGood });
    it.each(engines)('lets an engine pass that %s', { timeout: 120_000 }, async (_what, difference) => {
      const subject = await differing(difference);
      const results = await runChecks(checks, subject);
      expect(results).toEqual(checks.map(({ name }) => ({ check: name })));
    });

    it('has a bad engine for each of its checks', () => {
      const own = checks.filter((check) => name === 'chat' || !onlyWithChat.includes(check.name));
      expect(Object.keys(bad)).toEqual(own.map((check) => check.name));
    });

    const cases = Object.entries(bad).flatMap(([rule, engines]) =>
      Object.entries(engines).map(([what, difference]) => ({ rule, what, difference })),
    );
    it.each(cases)('detects by "$rule" an engine that $what', async ({ rule, difference }) => {
      const subject = await differing(difference);
      const [result] = await runChecks([checks.find((check) => check.name === rule)!], subject);
      expect(result?.failure).toBeInstanceOf(Error);
      // It is the rule that fails it, or a start that the registry refuses for the same reason; no slip in the source.
      expect(String(result?.failure)).toMatch(/^Nonconformance: |must be unique|"pitch" is missing/);
    });
  });
}

/**
 * The rules of the listing, of connections, of endings and of the options are the same for every capability. The kit
 * for chat is tested with all the engines that break them, the other kits with the first one for each rule, but for the
 * two that take seconds: that they are applied to every capability is seen where an engine keeps them, and that they call
 * it, from the files that it leaves.
 */
export function firstOfEach(bad: KitUnderTest<Subject>['bad']): KitUnderTest<Subject>['bad'] {
  return Object.fromEntries(
    Object.entries(bad).map(([rule, engines]) => [rule, Object.fromEntries(Object.entries(engines).slice(0, 1))]),
  );
}

const onlyWithChat = [
  'a local model connects to no other machine',
  'no child process or connection outlives the engine',
];

export const badListings = {
  'the published models are valid and unique': {
    'does not say whether its model is local': `models: [{ id: 'ears' }]`,
    'has a model without a name': `models: [{ id: '', local: true }]`,
    'serves nothing': `models: []`,
    'lists a model twice': `models: [{ id: 'ears', local: true }, { id: 'ears', local: true }]`,
    'reports an unknown code': `models: [{ ...parts.models[0], availability: { available: true, code: 'fine', reason: 'Fine.' } }]`,
    'reports a code reserved for the service': `models: [{ ...parts.models[0], availability: { available: false, code: 'engine-failed', reason: 'No.' } }]`,
    'publishes an entry without an id later': `recheck: async (publish) => publish([{ local: true }])`,
  },
  'every model has a known availability and a reason': {
    'is ready but not available': `models: [{ ...parts.models[0], availability: { available: false, code: 'ready', reason: 'Ready.' } }]`,
    'lacks a key but is available': `models: [{ ...parts.models[0], availability: { available: true, code: 'key-missing', reason: 'No.' } }]`,
    'gives no reason': `models: [{ ...parts.models[0], availability: { available: true, code: 'ready', reason: '' } }]`,
  },
  'assets have an id, a title, a size and a license, and report whether they are installed': {
    'names no license': `assets: [{ id: 'voice', assets: [{ ...voiceAsset, license: '' }] }]`,
    'has a group twice': `assets: [{ id: 'voice', assets: [voiceAsset] }, { id: 'voice', assets: [voiceAsset] }]`,
    'has a purpose that is not a text': `assets: [{ id: 'voice', purpose: 1, assets: [voiceAsset] }]`,
    'is of no known kind': `assets: [{ id: 'voice', assets: [{ ...voiceAsset, kind: 'toString' }] }]`,
    'takes a second to say whether it is there': `assets: [{ id: 'voice', assets: [{ ...voiceAsset, isReady: () => aSecond() }] }]`,
  },
} as const;

export const badOptions = {
  'valid options are accepted, and invalid ones stop the start': {
    'accepts unknown options': `options: { type: 'object', properties: { volume: { type: 'string' } } }`,
    'accepts any value for an option': `options: { ...parts.options, properties: { volume: {} } }`,
    'does not start with valid options': `options: { ...parts.options, required: ['pitch'] }`,
  },
} as const;

/** Where a part of an engine does its work, it also does this. */
const also = (part: string, deed: string) => `${part}: async (...call) => { ${deed}; return parts.${part}(...call); }`;

/** Rejects as it should, but its work does not end. */
export const leavesProgram = (part: string) => also(part, `spawn('sleep', ['30'])`);

export const litters = (part: string) => also(part, `await mkdtemp(tmpdir() + '/litter-')`);

/** The host does not have to exist. connections.process.test.ts has the other ways to reach one. */
export const talksElsewhere = (part: string) => ({
  'a local model connects to no other machine': {
    'connects to one after its answer': also(part, `setTimeout(() => { ${tries} }, 200)`),
  },
});

const tries = `connect(9, '198.51.100.1').on('error', () => undefined).destroySoon()`;

/** By itself each of them is gone after half a minute: later than the kit looks, however busy the machine is. */
export const badEndings = (part: string) => ({
  'no child process or connection outlives the engine': {
    'ends a shell, but not the shell’s child process': also(
      part,
      `const shell = spawn('sh', ['-c', 'sleep 30 & echo; wait']); shell.stdout.once('data', () => shell.kill())`,
    ),
    'leaves a server': also(
      part,
      `const server = createServer().listen(0); setTimeout(() => server.close(), 30_000).unref()`,
    ),
  },
});

/** As an engine of another package has it: a copy of its own. */
export const ownEngineError = `
  class EngineError extends Error {
    constructor(code, message) { super(message); this.code = code; this[Symbol.for('parlance.engine-error')] = true; }
  }`;
