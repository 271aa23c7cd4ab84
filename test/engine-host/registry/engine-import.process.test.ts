/** Engines outside of the clone, where no package `@parlance/server` is installed, import the contract by that name. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runScript } from '../../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';

const contract = '@parlance/server/engine';

const engine = (load: string) => `${load}
  defineEngine({
    contract: 1,
    name: 'greeter',
    capability: 'chat',
    options: { type: 'object', properties: {}, additionalProperties: false },
    create: () => ({
      models: [{ id: 'greeter', local: true }],
      async *complete({ model }, { signal }) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        signal.throwIfAborted();
        if (model !== 'greeter') throw new EngineError('unknown-model', 'No.');
        yield { type: 'step-started', step: 0 };
        yield { type: 'content-delta', step: 0, delta: 'Hello.' };
        yield { type: 'completed', result: { content: 'Hello.', finishReason: 'stop', reasoning: null, usage: null } };
      },
    }),
  });`;

const esm = engine(`import { defineEngine, EngineError } from '${contract}'; export default `);
const commonJs = engine(`const { defineEngine, EngineError } = require('${contract}'); module.exports = `);
const typescript = engine(
  `import { defineEngine, EngineError, type Engine } from '${contract}'; export type Mine = Engine; export default `,
);

async function folderOf(files: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await temporaryDirectory();
  await writeFiles(folder, files);
  return folder;
}

const manifest = { name: 'greeter', version: '1.0.0', type: 'module', exports: './index.js' };
const installed = { 'node_modules/greeter/package.json': manifest, 'node_modules/greeter/index.js': esm };

it.each([
  ['a file', './engine.mjs', { 'engine.mjs': esm }],
  ['a file in TypeScript', './engine.ts', { 'engine.ts': typescript }],
  ['a file in CommonJS', './engine.cjs', { 'engine.cjs': commonJs }],
  ['an installed package', 'greeter', installed],
])('%s passes the kit', async (_what, use, files) => {
  const cwd = await folderOf(files);
  const { code, stdout, stderr } = await runScript('src/bin/check-engine.ts', [use], { cwd });
  expect(stderr).toBe('');
  expect(stdout).not.toContain('BROKEN');
  expect(code).toBe(0);
});

it('a linked package serves', async () => {
  const [project, author] = [
    await folderOf({ 'node_modules/.keep': '' }),
    await folderOf({ 'package.json': manifest, 'index.js': esm }),
  ];
  await symlink(author, join(project, 'node_modules/greeter'));
  await writeFiles(project, { 'parlance.config.yaml': 'engines: { mind: { use: greeter } }' });
  const env = { DATA_DIR: join(project, 'data') };
  const { code, stdout } = await runScript('src/bin/doctor.ts', [], { cwd: project, env });
  expect(stdout).toContain('Chat works with: greeter');
  expect(code).toBe(0);
});

it('syntax that this Node.js does not know is refused with its version', async () => {
  const cwd = await folderOf({ 'engine.mjs': `export default class { 42 43 }` });
  const { stderr } = await runScript('src/bin/check-engine.ts', ['./engine.mjs'], { cwd });
  expect(stderr).toMatch(/engine\.mjs cannot be loaded: .+ \(SyntaxError on Node\.js v\d+\.\d+\.\d+\)\n$/);
});
