/**
 * `parlance init`: writes an example settings file that changes nothing until lines are uncommented. Never overwrites a
 * file.
 */
import { writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCommandLine } from './command-line.ts';
import { settingsTable } from '../settings/table.ts';

const engines = `\
# The engines by name. They replace the defaults, which are:
# whisper on this machine (local), voices on this machine (voice, espeak), and an Ollama or llama.cpp server if one is running.
#engines:
#  local: { use: whisper-cli, models: [{ id: local, file: models/ggml-base.bin }] }
#  voice: { use: sherpa-voice }
#  espeak: { use: espeak }
#  ollama: { use: llm-agent, baseUrl: http://127.0.0.1:11434/v1 }
#  openai:
#    - { use: llm-agent, baseUrl: https://api.openai.com/v1, apiKey: "\${OPENAI_API_KEY}", modelFilter: [gpt-*] }
#    - { use: hosted-stt, baseUrl: https://api.openai.com/v1, apiKey: "\${OPENAI_API_KEY}", models: [gpt-transcribe] }
#  groq: { use: tts, baseUrl: https://api.groq.com/openai/v1, apiKey: "\${GROQ_API_KEY}", models: [canopylabs/orpheus-v1-english] }
`;

const mcpServers = `\
# MCP servers, whose tools the chat models may call.
#mcpServers:
#  files: { command: mcp-server-filesystem, args: [/srv/notes], tools: [read_text_file, list_directory] }
#  search: { url: https://tools.example.com/mcp }
`;

const compatAliases = `\
# Entries by the model ids that apps under /v1 hard-code.
#compatAliases: { whisper-1: local }
`;

const args = readCommandLine({
  command: 'init',
  about: `Writes an example settings file with every setting commented out, parlance.config.yaml in the working directory or
the FILE of --config. The file has no effect until you remove a #. An existing file is not overwritten.`,
  example: ['--config', 'my.config.yaml'],
  takes: ['config'],
});
if (args) writeExample();

function writeExample(): void {
  const { PARLANCE_CONFIG: named = '' } = process.env;
  const path = resolve(named === '' ? 'parlance.config.yaml' : named);
  const schema = fileURLToPath(new URL('../../generated/config.schema.json', import.meta.url));
  try {
    writeFileSync(path, exampleFile(relative(dirname(path), schema)), { flag: 'wx' });
    console.log(`Created ${path} with every setting commented out; remove the # of those that you change.`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    console.error(
      code === 'EEXIST' ? `${path} already exists; not overwritten.` : `${path} cannot be written: ${message}`,
    );
    process.exitCode = 1;
  }
}

/**
 * Returns a settings file in which every setting is commented out: explanations start with `# `, settings with `#`.
 * `schema` is the relative path to the JSON Schema.
 */
function exampleFile(schema: string): string {
  const head = `# yaml-language-server: $schema=${schema}\n# Environment variables override this file. \${NAME} is the value of a variable.\n`;
  const settings = Object.entries(settingsTable)
    .filter(([, { inFile }]) => inFile !== false)
    .map(([name, { env, description, default: value, example = value }]) => {
      return `# ${description} (${env})\n#${name}: ${JSON.stringify(example)}\n`;
    });
  return [head, ...settings, engines, mcpServers, compatAliases].join('\n');
}
