/**
 * Marks ranges of the text without an element for each: a transcript may have 40,000 words. A browser without CSS
 * highlights marks only the segment.
 */
export type Mark = 'spoken' | 'found' | 'found-now';

interface TextRange {
  /** Element whose only child is the text. */
  readonly element: Element | null | undefined;
  readonly from: number;
  readonly to: number;
}

export function mark(name: Mark, places: readonly TextRange[]): void {
  if (!('highlights' in CSS)) return;
  const ranges = places.flatMap(({ element, from, to }) => {
    const text = element?.firstChild;
    if (!(text instanceof Text) || to > text.length) return [];
    return new StaticRange({ startContainer: text, startOffset: from, endContainer: text, endOffset: to });
  });
  CSS.highlights.set(name, new Highlight(...ranges));
}

/** The position in the text of an element that was clicked, in UTF-16 units. */
export function offsetAt({ clientX, clientY }: MouseEvent, element: Element): number | undefined {
  const [node, offset] = caretAt(clientX, clientY) ?? [];
  return node === element.firstChild ? offset : undefined;
}

function caretAt(x: number, y: number): readonly [Node, number] | undefined {
  if ('caretPositionFromPoint' in document) {
    const caret = document.caretPositionFromPoint(x, y);
    return caret ? [caret.offsetNode, caret.offset] : undefined;
  }
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Safari has no other
  const range = (document as Document).caretRangeFromPoint(x, y);
  return range ? [range.startContainer, range.startOffset] : undefined;
}
