/** A file of its own in the browser, see `later.tsx`. */
import '../app.tsx'; // all that the page has already is then in one other file
export { ModelsDialog } from './models-dialog.tsx';
export { Options } from './options.tsx';
export { Reader } from './reader.tsx';
export { VoiceDialog } from './voice-dialog.tsx';
