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
    options: { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false },
    create: ({ id = 'greeter' }) => ({
      models: [{ id, local: true }],
      async *complete({ model }, { signal }) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        signal.throwIfAborted();
        if (model !== id) throw new EngineError('unknown-model', 'No.');
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

it('a file passes the kit', async () => {
  const cwd = await folderOf({ 'engine.ts': typescript });
  const { code, stdout, stderr } = await runScript('src/bin/check-engine.ts', ['./engine.ts'], { cwd });
  expect(stderr).toBe('');
  expect(stdout).not.toContain('BROKEN');
  expect(code).toBe(0);
});

it('files of each kind, an installed package and a linked one serve', async () => {
  const author = await folderOf({ 'package.json': manifest, 'index.js': esm });
  const uses = ['./engine.mjs', './engine.ts', './engine.cjs', 'greeter', 'linked'];
  const project = await folderOf({
    ...{ 'engine.mjs': esm, 'engine.ts': typescript, 'engine.cjs': commonJs },
    'node_modules/greeter/package.json': manifest,
    'node_modules/greeter/index.js': esm,
    'parlance.config.yaml': JSON.stringify({
      engines: Object.fromEntries(uses.map((use, n) => [`mind-${n}`, { use, id: `greeter-${n}` }])),
    }),
  });
  await symlink(author, join(project, 'node_modules/linked'));
  const env = { DATA_DIR: join(project, 'data') };
  const { code, stdout } = await runScript('src/bin/doctor.ts', [], { cwd: project, env });
  expect(stdout).toContain(`Chat works with: ${uses.map((_use, n) => `greeter-${n}`).join(', ')}`);
  expect(code).toBe(0);
});

it('syntax that this Node.js does not know is refused with its version', async () => {
  const cwd = await folderOf({ 'engine.mjs': `export default class { 42 43 }` });
  const { stderr } = await runScript('src/bin/check-engine.ts', ['./engine.mjs'], { cwd });
  expect(stderr).toMatch(/engine\.mjs cannot be loaded: .+ \(SyntaxError on Node\.js v\d+\.\d+\.\d+\)\n$/);
});
