/** Which file may import what of the house. `house.unit.test.ts` enforces it; docs/architecture.md draws it. */

export const isHouse = (path: string): boolean => /^(src|engines|lib|generated|page)\//.test(path);

/** What a file may import of the house, by the first rule that fits. */
export const mayImport: readonly (readonly [importer: RegExp, imported: RegExp])[] = [
  [/^lib\//, /^lib\//],
  [/^engines\/contract\//, /^$/],
  [/^engines\/lib\//, /^(engines\/(contract|lib)|lib)\//],
  [/^engines\//, /^(engines\/(contract|lib)|lib)\//],
  [/^page\//, /^(page\/|src\/client\/index\.ts$|lib\/(spoken-markdown|voice-gate|join-texts|subtitles)\.ts$)/],
  [/^src\/client\//, /^generated\/(openai-)?api\.d\.ts$/],
  [/^src\/system\//, /^(lib\/|engines\/contract\/|src\/(request-scope|trace|contract\/problems)\.ts$)/],
  [/^src\/audio\//, /^(lib\/|engines\/contract\/|src\/(system\/|contract\/problems\.ts$))/],
  [/^src\/contract\//, /^(lib\/|engines\/contract\/|generated\/)/],
  [/^src\/settings\//, /^(lib|engines\/contract)\//],
  [/^src\/metrics\//, /^(engines\/contract\/|src\/contract\/)/],
  [
    /^src\/engine-host\//,
    /^(lib\/|engines\/contract\/|src\/(settings|contract|system|audio|keys)\/|src\/(request-scope|trace|metrics\/metrics)\.ts$)/,
  ],
  [/^src\/clips\//, /^(lib\/|engines\/contract\/|src\/(contract|system)\/|src\/request-scope\.ts$)/],
  [
    /^src\/transcription\//,
    /^(lib\/|engines\/contract\/|src\/(engine-host|audio|settings|contract|system|keys)\/|src\/(request-scope|metrics\/metrics)\.ts$)/,
  ],
  [
    /^src\/(chat|speech|tools)\//,
    /^(lib\/|engines\/contract\/|src\/(chat|speech|clips|tools|engine-host|settings|contract|system|keys)\/|src\/(request-scope|trace|metrics\/metrics)\.ts$)/,
  ],
  [
    /^src\/realtime\//,
    /^(lib\/|engines\/contract\/|src\/(transcription|chat|speech|tools|engine-host|audio|settings|contract|system|keys|limits)\/|src\/(request-scope|trace|metrics\/metrics)\.ts$)/,
  ],
  [
    /^src\/jobs\//,
    /^(lib\/|engines\/contract\/|src\/(transcription|engine-host|audio|settings|contract|system|keys|limits)\/|src\/(request-scope|metrics\/metrics)\.ts$)/,
  ],
  [
    /^src\/fleet\//,
    /^(lib\/|engines\/contract\/|src\/(engine-host|settings|contract|system|keys|limits)\/|src\/(request-scope|trace|metrics\/metrics)\.ts$)/,
  ],
  [
    /^src\/handlers\//,
    /^(lib\/|engines\/contract\/|src\/(chat|speech|clips|tools|transcription|realtime|jobs|engine-host|contract|keys)\/|src\/metrics\/metrics\.ts$)/,
  ],
  [
    /^src\/openai\//,
    /^(lib\/|engines\/contract\/|src\/(chat|speech|clips|tools|transcription|realtime|handlers|engine-host|contract|keys)\/|src\/http\/api-format\.ts$|generated\/openai-api\.d\.ts$)/,
  ],
  [
    /^src\/http\//,
    /^(lib\/|engines\/contract\/|src\/(contract|system|audio|settings|keys|limits)\/|src\/(request-scope|trace|metrics\/metrics)\.ts$)/,
  ],
  [
    /^src\/conformance\//,
    /^(lib\/|engines\/contract\/|src\/(engine-host|settings|contract|system|audio)\/|src\/transcription\/parameters\.ts$)/,
  ],
  [
    /^src\/sandbox\//,
    /^(engines\/sandbox\/options|src\/(index|service|client\/index|contract\/prefer|system\/workspace))\.ts$/,
  ],
  [/^src\/bin\//, /^(src\/(?!client\/)|lib\/|engines\/contract\/|generated\/)/],
  [
    /^src\/(service|open-app|open-node|start-worker|tuning|index)\.ts$/,
    /^(src\/(?!bin\/|client\/|conformance\/)|lib\/|engines\/contract\/|generated\/)/,
  ],
  [/^src\/keys\//, /^(lib\/|engines\/contract\/|src\/(settings|contract)\/|src\/request-scope\.ts$)/],
  [/^src\/limits\//, /^(lib\/|engines\/contract\/|src\/contract\/|src\/request-scope\.ts$)/],
  [/^src\/request-scope\.ts$/, /^lib\/trace-context\.ts$/],
  [/^src\/(log|trace)\.ts$/, /^(lib\/|src\/request-scope\.ts$)/],
];

/** The folder that a file may always import. A file directly in `src/` has none: its rule lists all. */
const ownFolder = (path: string): string | undefined => /^(engines|src)\/[^/]+\//.exec(path)?.[0];

export function isForbidden(importer: string, imported: string): boolean {
  const own = ownFolder(importer);
  if (!isHouse(imported) || (own !== undefined && imported.startsWith(own))) return false;
  return ruleOf(importer)?.[1].test(imported) !== true;
}

/** A file without a rule may import nothing but its own folder. */
export const ruleOf = (importer: string): (typeof mayImport)[number] | undefined =>
  mayImport.find(([importers]) => importers.test(importer));
