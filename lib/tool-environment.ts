const inherited = /^(PATH|HOME|NODE_EXTRA_CA_CERTS|(https?_|no_|all_)proxy|npm_config_.*)$/i;

/**
 * Environment of the build tools: enough for them to find each other and the npm registry, without the service's API
 * keys.
 */
export function toolEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  temporaryDirectory: string,
): Record<string, string> {
  const passed = Object.entries(env).filter(([name, value]) => inherited.test(name) && value !== undefined);
  // Killed compilers leave temporary files behind; they are deleted with this directory.
  return { ...(Object.fromEntries(passed) as Record<string, string>), TMPDIR: temporaryDirectory };
}
