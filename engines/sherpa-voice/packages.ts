/** The library and its binary for this platform, as `npm run setup` installs them. */
import { fileURLToPath } from 'node:url';
import type { RuntimePackages } from '../lib/runtime/packages.ts';

/** Those that upstream builds for glibc and macOS; there is none for musl. */
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** Undefined where there is no binary. */
export function packagesFor(platform: string): RuntimePackages | undefined {
  if (!platforms.includes(platform)) return undefined;
  return {
    name: 'voice',
    manifests: fileURLToPath(new URL(`./runtime/${platform}`, import.meta.url)),
    files: ['sherpa-onnx-node/package.json', `sherpa-onnx-${platform}/sherpa-onnx.node`],
  };
}

export const thisPlatform = `${process.platform}-${process.arch}`;
