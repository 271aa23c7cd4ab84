/**
 * Resolves `@parlance/server/engine` to the contract of the running service for every module. Node.js resolves packages
 * from the importer's folder, where an engine outside of this package may find no such package, or a different version.
 */
import { registerHooks } from 'node:module';
import { extname } from 'node:path';

const specifier = '@parlance/server/engine';
const contract = new URL(`../../../engines/contract/index${extname(import.meta.filename)}`, import.meta.url).href;

let isPrepared = false;

/**
 * Call this before importing an external engine. The hook stays in effect, because engines may import modules later.
 */
export function prepareForEngines(): void {
  if (isPrepared) return;
  isPrepared = true;
  registerHooks({
    resolve: (name, context, nextResolve) =>
      name === specifier ? { url: contract, shortCircuit: true } : nextResolve(name, context),
  });
}
