import type { PackagePart } from '../lib/npm-package.ts';

/** Contains whisper.cpp 1.9.1. The JavaScript of the package is not unpacked. */
export const whisperSource: PackagePart = {
  name: 'nodejs-whisper',
  version: '0.3.1',
  integrity: 'sha512-ceoilUVraRuR5FnNyXpGQT2auAR48Oc3AQBEmkXnVpSn9iN6yVRzQBFCqVTGWbk6Wdi95NhvwXNzFvuR7erLWw==',
  path: 'package/cpp/whisper.cpp',
};
