/** The title bar: the chat model, what can be done with the conversation, and where the data goes. */
import { privacyOf } from '../choices.ts';
import { saveConversation, startNewConversation } from '../conversation.ts';
import { chosen, isKeyMissing, listings } from '../listings.ts';
import { turns } from '../run.ts';
import { Action } from './action.tsx';
import { Icon } from './icons.tsx';
import { isModelsOpen } from './models-dialog.tsx';
import { isOptionsOpen } from './options.tsx';

export function Top() {
  return (
    <header class="top">
      <div class="bar">
        <h1>Parlance</h1>
        <ModelsButton />
        <nav aria-label="Page">
          <Action class="quiet" whyNot={whyNotYet()} title="New conversation" onClick={startNewConversation}>
            <Icon name="fresh" />
            <span class="wide">New conversation</span>
          </Action>
          <Action
            class="quiet"
            whyNot={whyNotYet()}
            title="Save the conversation as Markdown"
            onClick={saveConversation}
          >
            <Icon name="save" />
            <span class="unseen">Save</span>
          </Action>
          <button type="button" class="quiet" title="Options" onClick={() => (isOptionsOpen.value = true)}>
            <Icon name="options" />
            <span class="wide">Options</span>
          </button>
          <a class="quiet" href="docs" title="API reference">
            <Icon name="book" />
            <span class="unseen">API</span>
          </a>
        </nav>
      </div>
      <PrivacySign />
    </header>
  );
}

const whyNotYet = () =>
  turns.value.length === 0 ? 'The conversation is empty. Type or say something first.' : undefined;

function ModelsButton() {
  const text = chosen.value.chat?.name ?? textWithoutModel();
  return (
    <button type="button" class="select models" aria-haspopup="dialog" onClick={() => (isModelsOpen.value = true)}>
      <span class="unseen">Models. Chat: </span>
      <bdi>{text}</bdi>
    </button>
  );
}

function textWithoutModel(): string {
  if (listings.value) return 'No chat model';
  return isKeyMissing.value ? 'API key required' : 'Loading …';
}

/** Empty until the models are known: a promise that is taken back would be worse than none. */
function PrivacySign() {
  const { isLocal, text } = privacyOf(chosen.value);
  return (
    <p class={isLocal ? 'sign' : 'sign away'}>
      {listings.value && (
        <>
          <Icon name={isLocal ? 'here' : 'away'} />
          <span>{text}</span>
        </>
      )}
    </p>
  );
}
