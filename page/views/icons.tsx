/** Line icons of 24 units. They are decorative, because the buttons have names. */
const paths = {
  microphone: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Z M5.5 11a6.5 6.5 0 0 0 13 0 M12 17.5V21',
  muted:
    'M9 9v2a3 3 0 0 0 4.6 2.5 M15 10V6a3 3 0 0 0-5.8-1 M5.5 11a6.5 6.5 0 0 0 10 5.5 M18.5 11c0 1-.2 2-.6 2.8 M12 17.5V21 M4 4l16 16',
  waves: 'M4 10v4 M8 6.5v11 M12 3.5v17 M16 7.5v9 M20 10v4',
  dots: 'M6 12h.01 M12 12h.01 M18 12h.01',
  file: 'M18.5 11.5 12 18a4.2 4.2 0 0 1-6-6l7-7a2.8 2.8 0 0 1 4 4l-6.9 6.9a1.4 1.4 0 0 1-2-2l6.3-6.3',
  speaker: 'M11 5 6.5 9H3v6h3.5L11 19Z M15 9.2a4 4 0 0 1 0 5.6 M17.8 6.4a8 8 0 0 1 0 11.2',
  send: 'M12 19V5 M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7Z',
  play: 'M8 5.5v13l10.5-6.5Z',
  options: 'M4 7h9 M17 7h3 M4 17h3 M11 17h9 M13 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0 M7 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0',
  fresh: 'M12 5v14 M5 12h14',
  book: 'M5 4.5h10.5A2.5 2.5 0 0 1 18 7v12.5H7.5A2.5 2.5 0 0 1 5 17Z M5 17a2.5 2.5 0 0 1 2.5-2.5H18',
  here: 'M5 11 12 5l7 6 M7 10v9h10v-9',
  away: 'M7.5 18a4 4 0 0 1-.6-8 5.5 5.5 0 0 1 10.6 1.2A3.5 3.5 0 0 1 17 18Z',
  check: 'M5 12.5 10 17 19 7.5',
  copy: 'M9 9h10v11H9Z M15 9V4H5v11h4',
  edit: 'M4.5 19.5l.9-3.9L16.2 4.8a1.6 1.6 0 0 1 2.3 0l.7.7a1.6 1.6 0 0 1 0 2.3L8.4 18.6Z M14.5 6.5l3 3',
  again: 'M19 12a7 7 0 1 1-2-4.9 M19 4v4h-4',
  pause: 'M9 6v12 M15 6v12',
  up: 'M12 19V5 M6 11l6-6 6 6',
  down: 'M12 5v14 M6 13l6 6 6-6',
  save: 'M12 4v11 M7.5 10.5 12 15l4.5-4.5 M5 19.5h14',
  list: 'M4 7h16 M4 12h16 M4 17h10',
  bin: 'M5 7h14 M9.5 7V4.5h5V7 M7 7l.8 12.5h8.4L17 7 M10.3 10.5v5.5 M13.7 10.5v5.5',
  close: 'M6 6l12 12 M18 6 6 18',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
