// microphone.ts: a button that records, and the text that was said. The page, with the bundle beside it:
//   <button id="speak" disabled>Speak</button> <output id="said"></output> <script type="module" src="microphone.js"></script>
import { createClient } from '@parlance/server/client';

const client = createClient(); // same origin as the page; otherwise set baseUrl here and CORS_ORIGINS in the service
const button = document.querySelector<HTMLButtonElement>('#speak')!;
const output = document.querySelector('#said')!;
const show = (text: string) => void (output.textContent = text);
let recorder: MediaRecorder | undefined;

const { available, reason } = await client.transcriptionAvailability();
button.disabled = !available || !window.isSecureContext;
if (button.disabled) show(available ? 'A microphone needs https or localhost.' : reason);

button.onclick = () => {
  if (recorder) recorder.stop();
  else record().catch((error: unknown) => show(`No microphone: ${(error as Error).message}`));
};

async function record(): Promise<void> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const pieces: Blob[] = [];
  recorder = new MediaRecorder(stream, { audioBitsPerSecond: 32_000 });
  recorder.onstart = () => (button.textContent = 'Stop'); // what is said earlier is lost
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  recorder.onstop = () => {
    for (const track of stream.getTracks()) track.stop();
    recorder = undefined;
    button.textContent = 'Speak';
    transcribe(new Blob(pieces)).catch((error: unknown) => show(`Not transcribed: ${(error as Error).message}`));
  };
  recorder.start();
}

async function transcribe(recording: Blob): Promise<void> {
  show('…');
  const { text } = await client.transcribe(recording);
  show(text || 'Nothing was heard.');
}
