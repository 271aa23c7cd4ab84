/** Opens the API reference for both documents of the service. Nothing is loaded from elsewhere. */
interface Scalar {
  createApiReference(place: string, options: object): void;
}

declare const Scalar: Scalar;

Scalar.createApiReference('#reference', {
  sources: [
    { title: 'Parlance', url: 'openapi.json' },
    { title: 'OpenAI-compatible', url: 'openapi-compat.json' },
  ],
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});

/** Scalar 1.72.1 renders buttons without an accessible name. */
new MutationObserver(() => {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy');
  }
}).observe(document.body, { childList: true, subtree: true });
