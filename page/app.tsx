/** Draws the page. The state is in the signals of the other modules in this folder. */
import { render } from 'preact';
import { cancel } from './cancel.ts';
import { isComposing } from './draft.ts';
import { handsFree } from './hands-free.ts';
import { watchListings } from './listings.ts';
import { announcement } from './announcements.ts';
import { watchLibrary } from './library/library.ts';
import { keepConversation } from './open-conversation.ts';
import { watchPreparations } from './preparations.ts';
import { opened, watchRecordings } from './reader/recordings.ts';
import { watchKept } from './transcription.ts';
import { forgetExplanations } from './why-not.ts';
import { Composer } from './views/composer.tsx';
import { Conversation } from './views/conversation.tsx';
import { Files, takeFilesAnywhere } from './views/files.tsx';
import { HandsFreeView } from './views/hands-free.tsx';
import { KeyDialog } from './views/key-dialog.tsx';
import { Dialogs, Reader } from './views/later.tsx';
import { Sidebar } from './views/sidebar.tsx';
import { Top } from './views/top.tsx';

function Page() {
  return (
    <>
      <a class="skip quiet outlined" href={opened.value ? '#transcript' : '#message'}>
        Skip to the {opened.value ? 'transcript' : 'message'}
      </a>
      <Sidebar />
      <Top />
      {opened.value ? (
        <Reader key={opened.value.id} recording={opened.value} />
      ) : (
        <>
          <Conversation />
          <Composer />
        </>
      )}
      <p role="status" class="unseen">
        {handsFree.value === 'off' && announcement.value}
      </p>
      <HandsFreeView />
      <KeyDialog />
      <Dialogs />
      <Files />
    </>
  );
}

watchLibrary();
keepConversation();
watchListings();
watchPreparations();
watchRecordings();
watchKept();
takeFilesAnywhere();
forgetExplanations();
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !isComposing(event) && !document.querySelector('dialog[open]')) cancel();
});

const place = document.getElementById('page');
if (place) render(<Page />, place);
