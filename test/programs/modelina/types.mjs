/** Prints the types that Modelina makes of an AsyncAPI document: for each language, their names and the source. */
import { readFileSync } from 'node:fs';
import { GoGenerator, PythonGenerator, TypeScriptGenerator } from '@asyncapi/modelina';

const document = readFileSync(process.argv[2], 'utf8');
const types = {};
for (const [language, Generator] of Object.entries({ TypeScriptGenerator, GoGenerator, PythonGenerator })) {
  const models = await new Generator().generate(JSON.parse(document));
  const names = models.map(({ modelName }) => modelName);
  types[language.replace('Generator', '')] = { names, source: models.map(({ result }) => result).join('\n') };
}
console.log(JSON.stringify(types));
