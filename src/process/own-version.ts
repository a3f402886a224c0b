import { writer } from './writer.ts';

declare const AGT_VERSION: string;

/**
 * Whether the whole call is a question for the version of agt. The agt of simbo1905 prints its own version, also when it
 * is called as git, if a variable is set.
 */
export function asksForOwnVersion(isGit: boolean, words: readonly string[], env: NodeJS.ProcessEnv): boolean {
  if (env['AGT_SHOW_OWN_VERSION'] !== undefined)
    return words.some((word) => word === '--version' || word === '-V');
  return !isGit && words.length === 1 && (words[0] === '--version' || words[0] === '-v');
}

export function printOwnVersion(out = writer(1)): number {
  out(`agt ${AGT_VERSION}\n`);
  return 0;
}
