/** Every built-in engine keeps the rules, as it works here. How promptly it does is in built-ins.system.test.ts. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { builtIns, describeBuiltIns, isTimed } from './built-ins.ts';

const engines = resolve(import.meta.dirname, '../../engines');
const names = readdirSync(engines).filter((name) => name !== 'contract' && existsSync(join(engines, name, 'index.ts')));

it('every built-in engine is checked', () => {
  expect(Object.keys(builtIns).toSorted()).toEqual(names.toSorted());
});

describeBuiltIns((check) => !isTimed(check));
