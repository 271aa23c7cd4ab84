/** Draws the page. The state is in the signals of the modules beside this one. */
import { render } from 'preact';
import { cancel } from './cancel.ts';
import { isComposing } from './draft.ts';
import { handsFree } from './hands-free.ts';
import { watchListings } from './listings.ts';
import { announcement } from './announcements.ts';
import { watchLibrary } from './library/library.ts';
import { watchLongRecordings } from './long-recordings.ts';
import { keepConversation } from './open-conversation.ts';
import { watchPreparations } from './preparations.ts';
import { watchKept } from './transcription.ts';
import { forgetExplanations } from './why-not.ts';
import { Composer } from './views/composer.tsx';
import { Conversation } from './views/conversation.tsx';
import { DropZone, takeFilesAnywhere } from './views/drop-zone.tsx';
import { HandsFreeView } from './views/hands-free.tsx';
import { KeyDialog } from './views/key-dialog.tsx';
import { ModelsDialog } from './views/models-dialog.tsx';
import { Options } from './views/options.tsx';
import { Sidebar } from './views/sidebar.tsx';
import { Top } from './views/top.tsx';
import { VoiceDialog } from './views/voice-dialog.tsx';

function Page() {
  return (
    <>
      <a class="skip" href="#message">
        Skip to the message
      </a>
      <Sidebar />
      <Top />
      <Conversation />
      <Composer />
      <p role="status" class="unseen">
        {handsFree.value === 'off' && announcement.value}
      </p>
      <HandsFreeView />
      <KeyDialog />
      <ModelsDialog />
      <Options />
      <VoiceDialog />
      <DropZone />
    </>
  );
}

watchLibrary();
keepConversation();
watchListings();
watchPreparations();
watchLongRecordings();
watchKept();
takeFilesAnywhere();
forgetExplanations();
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !isComposing(event) && !document.querySelector('dialog[open]')) cancel();
});

const place = document.getElementById('page');
if (place) render(<Page />, place);
