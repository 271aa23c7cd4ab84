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

/** The address of the page, as `location` has it. */
export interface Address {
  readonly hostname: string;
  readonly port: string;
}

export function textOfCaptureProblem(problem: CaptureProblem, { hostname, port }: Address): string {
  const on = port || '80';
  switch (problem) {
    case 'insecure':
      return (
        `The microphone is not available at this address: browsers allow it only over https and on localhost. ` +
        `On the server itself, open http://localhost:${on}. ` +
        `From another machine, run “ssh -L ${on}:127.0.0.1:${on} ${hostname}” and open the same address, or serve the page over https (PUBLIC_URL). ` +
        `You can still transcribe files.`
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
