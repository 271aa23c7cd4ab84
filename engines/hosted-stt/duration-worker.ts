/** The thread says that it reads how long a recording is, then that in seconds (undefined: it cannot tell), and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { ALL_FORMATS, FilePathSource, Input } from 'mediabunny';

const { path } = workerData as { readonly path: string };
console.error = console.warn = () => {}; // the demuxer speaks to the console

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
