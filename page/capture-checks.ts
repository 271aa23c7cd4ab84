/** Why there is no microphone, and what to do about it. Pure. */

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

export function textOfCaptureProblem(obstacle: CaptureProblem, { hostname, port }: Address): string {
  const on = port || '80';
  switch (obstacle) {
    case 'insecure':
      return (
        `This address is the reason that there is no microphone: browsers allow it on https and on localhost only. ` +
        `On the machine of the service, open http://localhost:${on}. ` +
        `From here, run “ssh -L ${on}:127.0.0.1:${on} ${hostname}” and open the same, or put https before the service (PUBLIC_URL). ` +
        `Files work all the same.`
      );
    case 'unsupported':
      return 'This browser cannot record. Files work all the same.';
    case 'denied':
      return 'The microphone is blocked for this page. Allow it at the left of the address, then try again.';
    case 'missing':
      return 'No microphone was found. Plug one in, then try again.';
    case 'in-use':
      return 'Another program holds the microphone. Close it, then try again.';
    case 'gone':
      return 'The microphone was disconnected. What was recorded until then is transcribed.';
  }
}
