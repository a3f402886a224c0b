/** The agt of simbo1905 prints its own version, also when it is called as git, if this variable is set. */
export function showsOwnVersion(words: readonly string[], env: NodeJS.ProcessEnv): boolean {
  return (
    env['AGT_SHOW_OWN_VERSION'] !== undefined && words.some((word) => word === '--version' || word === '-V')
  );
}
