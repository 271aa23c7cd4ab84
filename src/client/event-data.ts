/** Parses server-sent events (WHATWG HTML, 9.2.6). Only `data` is read: the events of the service are JSON. */

/** The parser takes the next text of the stream, and returns the data of each event that it completes. */
export function createEventParser(): (text: string) => readonly string[] {
  let pending: string[] = [];
  const data: string[] = [];
  return (text) => {
    const isAfterReturn = pending.at(-1)?.endsWith('\r');
    pending.push(text);
    if (!isAfterReturn && !/[\r\n]/.test(text)) return []; // a long line is joined once
    const lines = pending.join('').split(/\r\n|\n|\r(?!$)/); // a line feed may follow a return at the end
    pending = lines.splice(-1);
    return lines.flatMap((line) => {
      const field = /^data(?:$|: ?)/.exec(line);
      if (field) data.push(line.slice(field[0].length));
      if (line !== '' || data.length === 0) return [];
      return data.splice(0).join('\n');
    });
  };
}
