/** Generates the page `/docs/errors`, with advice for each code at its own anchor. */
import type { ClientErrorCode } from '../../src/client/index.ts';
import { problems } from '../../src/contract/problem-table.ts';

/** Advice for the codes that only the client uses; no response contains them. */
export const clientErrorAdvice: Readonly<Record<ClientErrorCode, string>> = {
  unreachable: 'Check that the service is running, and check the network.',
  'unexpected-answer': 'The response is not from the service. Check proxies between the page and the service.',
  'stream-broken': 'The connection broke before the end. Try again, and check the timeouts of proxies.',
};

export function errorSections(): string {
  const ofService = Object.entries(problems).map(([name, { status, title, advice }]) =>
    section(name, `${title} (${status})`, advice),
  );
  const ofClient = Object.entries(clientErrorAdvice).map(([name, advice]) =>
    section(name, 'Of the client: there is no answer of the service', advice),
  );
  return [...ofService, ...ofClient].join('\n');
}

function section(name: string, title: string, advice: string): string {
  return `<section id="${name}"><h2><code>${name}</code></h2><p class="small">${html(title)}</p><p>${html(advice)}</p></section>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function html(text: string): string {
  const escaped = text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
