/** Explains why the microphone is not available, and what to do. Pure. */

export type CaptureProblem = 'insecure' | 'unsupported' | 'denied' | 'missing' | 'in-use' | 'gone';

export interface Abilities {
  readonly isSecureContext: boolean;
  readonly hasMediaDevices: boolean;
  readonly hasRecorder: boolean;
}

/** Problems that are known before any click. */
export function captureProblemOf({
  isSecureContext,
  hasMediaDevices,
  hasRecorder,
}: Abilities): CaptureProblem | undefined {
  if (hasMediaDevices && hasRecorder) return undefined;
  return isSecureContext ? 'unsupported' : 'insecure';
}

/** Rejections of `getUserMedia`, by name. */
const byName: Readonly<Record<string, CaptureProblem>> = {
  NotAllowedError: 'denied',
  SecurityError: 'denied',
  NotFoundError: 'missing',
  OverconstrainedError: 'missing',
  NotReadableError: 'in-use',
  AbortError: 'in-use',
};

export function captureProblemOfError(error: unknown): CaptureProblem | undefined {
  return error instanceof Error ? byName[error.name] : undefined;
}

/** The address of the page, as in `location`. */
export interface Address {
  readonly hostname: string;
  readonly port: string;
}

export function textOfCaptureProblem(problem: CaptureProblem): string {
  switch (problem) {
    case 'insecure':
      return (
        `The microphone is not available at this address, so “Speak” and “Hands-free” do not work: ` +
        `browsers allow it only over https and on localhost. Typing, files and reading aloud work.`
      );
    case 'unsupported':
      return 'This browser cannot record. You can still transcribe files.';
    case 'denied':
      return 'The microphone is blocked for this page. Allow it in the address bar, then try again.';
    case 'missing':
      return 'No microphone was found. Connect one, then try again.';
    case 'in-use':
      return 'Another program is using the microphone. Close it, then try again.';
    case 'gone':
      return 'The microphone was disconnected. The recording up to that point is transcribed.';
  }
}

/** How to open the page so that the browser allows the microphone. */
export function remedyForInsecure({ hostname, port }: Address): string {
  const on = port || '80';
  const host = hostname.replace(/^\[|\]$/g, ''); // the brackets of an IPv6 address
  return (
    `To speak on the machine of the service, open http://localhost:${on} there. ` +
    `To speak on this one, run “ssh -L ${on}:127.0.0.1:${on} ${host}” here and open http://localhost:${on}, ` +
    `or serve the page over https (PUBLIC_URL).`
  );
}
