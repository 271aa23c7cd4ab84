/** The package's own types import without extensions, which TypeScript does not resolve here. */
declare module '@plussub/srt-vtt-parser' {
  export function parse(file: string): {
    /** Times in milliseconds. */
    readonly entries: readonly { readonly from: number; readonly to: number; readonly text: string }[];
  };
}
