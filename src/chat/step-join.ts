/**
 * Joins the texts of all steps with an empty line, so that the deltas of a stream concatenate to the whole text. The
 * returned function maps a delta to the text that it adds.
 */
export function createStepJoin(): (event: { readonly step: number; readonly delta: string }) => string {
  let last: number | undefined;
  return ({ step, delta }) => {
    if (delta === '') return '';
    const gap = last === undefined || last === step ? '' : '\n\n';
    last = step;
    return gap + delta;
  };
}
