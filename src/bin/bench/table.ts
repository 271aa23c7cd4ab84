export interface Row {
  readonly model: string;
  readonly kind: 'speech' | 'transcription';
  /** The measurements, or the reason why they are missing. */
  readonly result: Measured | string;
}

/** A value that does not exist for the model or on this system is undefined or NaN. */
export interface Measured {
  readonly loadSeconds: number | undefined;
  /** Wall-clock seconds and processor seconds per second of audio. */
  readonly realTimeFactor: number;
  readonly processor: number;
  readonly memoryBytes: number | undefined;
  readonly firstSoundSeconds?: number | undefined;
  readonly wordErrorRate?: number | undefined;
}

const columns: readonly (readonly [title: string, of: (measured: Measured) => string])[] = [
  ['load s', ({ loadSeconds }) => short(loadSeconds)],
  ['real-time factor', ({ realTimeFactor }) => short(realTimeFactor)],
  ['processor s per s', ({ processor }) => short(processor)],
  ['memory MB', ({ memoryBytes = NaN }) => short(Math.round(memoryBytes / 1e6))],
  ['first sound s', ({ firstSoundSeconds }) => short(firstSoundSeconds)],
  ['word errors', ({ wordErrorRate: rate }) => (rate === undefined ? '-' : `${(100 * rate).toFixed(1)} %`)],
];

export function tableOf(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ model }) => model.length));
  const line = (model: string, kind: string, rest: string) => `${model.padEnd(width)}  ${kind.padEnd(13)}  ${rest}`;
  const cells = (measured: Measured) => columns.map(([title, of]) => of(measured).padStart(title.length)).join('  ');
  const titles = line('model', 'kind', columns.map(([title]) => title).join('  '));
  return [
    titles,
    ...rows.map(({ model, kind, result }) => line(model, kind, typeof result === 'string' ? result : cells(result))),
  ].join('\n');
}

/** Formats a number with two significant digits; whole numbers keep all their digits. */
function short(value = NaN): string {
  if (Number.isNaN(value)) return '-';
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(2)));
}
