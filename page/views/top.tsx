/** The title bar: the button for the list, the chat model, and where the data is sent. */
import { privacyOf } from '../choices.ts';
import { isModelsOpen } from '../dialogs.ts';
import { chosen, isKeyMissing, listings } from '../listings.ts';
import { Action } from './action.tsx';
import { Icon } from './icons.tsx';
import { isBeside, isListOpen, startAnew, whyNotYet } from './sidebar.tsx';

export function Top() {
  return (
    <header class="top">
      <h1 class="unseen">Parlance</h1>
      <div class="bar">
        {!isBeside.value && (
          <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => (isListOpen.value = true)}>
            <Icon name="list" />
            <span class="unseen">Conversations</span>
          </button>
        )}
        <ModelsButton />
        {!isBeside.value && (
          <Action class="quiet" whyNot={whyNotYet()} title="New conversation" onClick={startAnew}>
            <Icon name="fresh" />
            <span>New</span>
          </Action>
        )}
      </div>
      <PrivacySign />
    </header>
  );
}

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
