/** The text of a failure, with a link to the service's own page about its code. */
import type { Failure } from '../failure.ts';

export function FailureText({ failure: { text, code, requestId } }: { readonly failure: Failure }) {
  return (
    <>
      <p>{text}</p>
      {(code !== undefined || requestId !== undefined) && (
        <p class="small facts">
          {code !== undefined && (
            <span>
              Code <code>{code}</code>:{' '}
              <a href={`docs/errors#${encodeURIComponent(code)}`} target="_blank" rel="noopener">
                what to do
              </a>
            </span>
          )}
          {requestId !== undefined && (
            <span>
              Request <code class="request-id">{requestId}</code>
            </span>
          )}
        </p>
      )}
    </>
  );
}
