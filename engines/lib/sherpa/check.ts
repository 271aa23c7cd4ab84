/** Prints whether sherpa-onnx can be loaded (`LibraryCheck`). Argument: the directory of the package. */
import { messageOf } from '../../../lib/errors.ts';
import { print } from '../host-program/host-program.ts';
import { loadLibrary } from './program.ts';

export type LibraryCheck = { readonly version: string } | { readonly error: string };

print(check(process.argv[2] ?? ''));

function check(directory: string): LibraryCheck {
  try {
    return { version: loadLibrary(directory).version };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n'); // the other lines list where it was searched for
    return { error: reason };
  }
}
