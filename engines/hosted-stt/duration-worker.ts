/** Worker thread: posts 'reading' once it starts, then the duration in seconds (undefined if unknown), and exits. */
import { parentPort, workerData } from 'node:worker_threads';
import { ALL_FORMATS, FilePathSource, Input } from 'mediabunny';

const { path } = workerData as { readonly path: string };
console.error = console.warn = () => {}; // the demuxer logs to the console

parentPort?.postMessage('reading');
parentPort?.postMessage(await measure().catch(() => undefined));

async function measure(): Promise<number | undefined> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const [track] = await input.getAudioTracks();
    return await track?.computeDuration();
  } finally {
    input.dispose();
  }
}
