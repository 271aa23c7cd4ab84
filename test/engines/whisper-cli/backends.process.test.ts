/** Which libraries the programs that we build load at their start (host/backends.cpp), with a ggml that only says so. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeWith, run } from '../../support/programs.ts';
import { temporaryDirectory } from './support.ts';

const source = resolve(import.meta.dirname, '../../../engines/whisper-cli/host/backends.cpp');

describeWith(['g++'], 'a program with our function in place of that of ggml', (found) => {
  test('looks beside itself alone, whatever the working directory and GGML_BACKEND_PATH are', async () => {
    const directory = await temporaryDirectory();
    const [home, elsewhere] = [join(directory, 'home'), join(directory, 'elsewhere')];
    await Promise.all([home, elsewhere].map((path) => mkdir(path)));
    const header =
      'extern "C" { void ggml_backend_load_all(void); void ggml_backend_load_all_from_path(const char *); }';
    await writeFile(join(directory, 'ggml-backend.h'), header);
    const main = `#include "ggml-backend.h"
      #include <cstdio>
      #include <cstdlib>
      void ggml_backend_load_all_from_path(const char * path) {
        std::printf("%s %s", path, std::getenv("GGML_BACKEND_PATH") ? "and more" : "and nothing else");
      }
      int main() { ggml_backend_load_all(); }`;
    await writeFile(join(directory, 'main.cpp'), main);
    const program = join(home, 'program');
    const renamed = '-Dggml_backend_load_all=load_own_backends';
    await run(found['g++'], [
      '-std=c++17',
      renamed,
      `-I${directory}`,
      join(directory, 'main.cpp'),
      source,
      '-o',
      program,
    ]);
    const env = { GGML_BACKEND_PATH: join(elsewhere, 'libggml-evil.so') };
    const { stdout } = await promisify(execFile)(program, [], { cwd: elsewhere, env });
    expect(stdout).toBe(`${home}/ and nothing else`);
  });
});
