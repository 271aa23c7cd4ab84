/** A terminal with this text, as a page. */
export function terminal(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>
<style>
  :root { color-scheme: light dark; }
  body { margin: 0; background: light-dark(#f6f8fa, #0d1117); color: light-dark(#1f2328, #e6edf3); }
  pre { margin: 0; padding: 20px; font: 14px/1.5 'DejaVu Sans Mono', monospace; white-space: pre-wrap; }
</style>
<pre>${escaped.trim()}</pre>`;
}
