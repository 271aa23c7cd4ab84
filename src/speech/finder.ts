/** `indexOf` for questions in order, in linear time also where the answer is always "none". */
export function createFinder(text: string): (searched: string, from: number) => number | undefined {
  const found = new Map<string, number>();
  return (searched, from) => {
    let index = found.get(searched) ?? -1;
    if (index < from) {
      const next = text.indexOf(searched, from);
      index = next < 0 ? Infinity : next;
      found.set(searched, index);
    }
    return index === Infinity ? undefined : index;
  };
}
