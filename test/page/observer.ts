/** A script that notes in the page what a user would notice, and what a page should never do. */

/** What it notes, as `window.observed`. */
export interface Observed {
  /** Violations of the Content Security Policy. */
  readonly violations: readonly string[];
  /** What a screen reader is told, in order. */
  readonly announcements: readonly string[];
  /** Screen wake locks: requested, and still held. */
  readonly wakeLocks: { readonly asked: number; readonly held: number };
  /** Microphone tracks: opened, and still recording. */
  readonly tracks: { readonly opened: number; readonly live: number };
  /** Names of the animations that run. */
  readonly animations: readonly string[];
  readonly isSounding: boolean;
  /** Whether the sound that plays is known to its end. */
  readonly isWhole: boolean;
  /** Milliseconds from the last Escape until the page was silent and idle. */
  readonly stoppedAfterMs: number | null;
  /** Milliseconds from the last click until sound was heard. */
  readonly soundedAfterMs: number | null;
  /** Milliseconds since the last microphone began. */
  readonly listenedMs: number;
}

export const observer = String.raw`(() => {
  const violations = [], announcements = [], tracks = [], locks = [], players = new Set();
  let stoppedAfterMs = null, soundedAfterMs = null, clickedAt = null, openedAt = null;
  addEventListener('securitypolicyviolation', (event) => {
    violations.push(event.effectiveDirective + ' ' + event.blockedURI);
  });

  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    if (!players.has(this)) {
      players.add(this);
      this.addEventListener('timeupdate', () => {
        if (soundedAfterMs === null && clickedAt !== null && isSounding()) soundedAfterMs = performance.now() - clickedAt;
      });
      this.addEventListener('playing', () => {
        if (this.src.startsWith('blob:') && this.duration < 0.1) return; // the silence that unlocks the player
        if (soundedAfterMs === null && clickedAt !== null) soundedAfterMs = performance.now() - clickedAt;
      });
    }
    return play.call(this);
  };
  const isSounding = () => [...players].some((p) => !p.paused && p.currentTime > 0 && p.readyState > 2 && !(p.duration < 0.1));

  const devices = navigator.mediaDevices;
  const open = devices && devices.getUserMedia.bind(devices);
  if (devices) devices.getUserMedia = async (constraints) => {
    const stream = await open(constraints);
    openedAt = performance.now();
    tracks.push(...stream.getTracks());
    return stream;
  };
  const lock = navigator.wakeLock && navigator.wakeLock.request.bind(navigator.wakeLock);
  if (lock) navigator.wakeLock.request = async (type) => {
    const sentinel = await lock(type);
    locks.push(sentinel);
    return sentinel;
  };

  addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => {
      const text = [...document.querySelectorAll('[role=status]')].map(({ textContent }) => textContent).join('');
      if (text !== '' && announcements.at(-1) !== text) announcements.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });

  const isIdle = () =>
    !isSounding() &&
    tracks.every(({ readyState }) => readyState === 'ended') &&
    ![...document.querySelectorAll('button')].some(({ textContent }) => /^(Cancel|Stop.*)$/.test(textContent.trim()));
  addEventListener('click', () => { clickedAt = performance.now(); soundedAfterMs = null; }, true);
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    const pressedAt = performance.now();
    stoppedAfterMs = null;
    const look = () => {
      if (isIdle()) stoppedAfterMs = performance.now() - pressedAt;
      else setTimeout(look, 1);
    };
    setTimeout(look);
  }, true);

  Object.defineProperty(window, 'observed', { configurable: true, get: () => ({
    violations, announcements, stoppedAfterMs, soundedAfterMs,
    isSounding: isSounding(),
    isWhole: [...players].some(({ duration }) => Number.isFinite(duration)),
    wakeLocks: { asked: locks.length, held: locks.filter(({ released }) => !released).length },
    tracks: { opened: tracks.length, live: tracks.filter(({ readyState }) => readyState === 'live').length },
    animations: document.getAnimations().filter(({ playState }) => playState === 'running')
      .map((animation) => animation.animationName ?? animation.transitionProperty ?? ''),
    listenedMs: openedAt === null ? 0 : performance.now() - openedAt,
  }) });
})()`;

/** Sets `window.usableAt` once the composer is there, by `performance.now()`. */
export const usableWatcher = `{
  const look = () => {
    if (document.querySelector('textarea')) window.usableAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;
