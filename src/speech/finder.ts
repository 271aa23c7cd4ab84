/**
 * Returns an `indexOf` for ascending values of `from`. All searches together take linear time, even for strings that do
 * not occur.
 */
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
