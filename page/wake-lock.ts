/** Keeps the screen on until the signal aborts. The browser takes the lock away from a hidden page, and may refuse it. */
export function keepAwake(signal: AbortSignal): void {
  let lock: WakeLockSentinel | undefined;
  const request = async () => {
    if (document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
    try {
      lock = await navigator.wakeLock.request('screen');
      if (signal.aborted) await lock.release();
    } catch {
      // Refused, such as on low battery: the screen may go off.
    }
  };
  const onChange = () => void request();
  document.addEventListener('visibilitychange', onChange);
  signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', onChange);
    void lock?.release();
  });
  void request();
}
