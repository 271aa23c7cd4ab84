/** The page `/docs/errors`: each code with advice, at its own anchor. */
import { problems } from '../../src/contract/problems.ts';
import { clientErrorAdvice, errorAdvice } from './error-advice.ts';

export function errorSections(): string {
  const ofService = Object.entries(problems).map(([name, { status, title }]) =>
    section(name, `${title} (${status})`, errorAdvice[name as keyof typeof problems]),
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
