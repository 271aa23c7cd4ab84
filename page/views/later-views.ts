/** A separate file in the browser; see `later.tsx`. */
import '../app.tsx'; // everything that the page has already loaded is then in one other file
export { ModelsDialog } from './models-dialog.tsx';
export { Options } from './options.tsx';
export { Reader } from './reader.tsx';
export { VoiceDialog } from './voice-dialog.tsx';
