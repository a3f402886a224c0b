/**
 * Splits a command line as git.c does: global options, the command, its arguments. git takes no abbreviations of global
 * options. A line with an option that this file does not know is unknown to git mode, and git gets it as it is.
 */

export interface CommandLine {
  /** Every word before the command, as given (without `--disable-agt`). */
  readonly globals: readonly string[];
  readonly command: string;
  /** The words after the command. */
  readonly args: readonly string[];
  /** `--disable-agt` was among the globals. */
  readonly disabled: boolean;
}

/** The command of a shell alias; the first argument is the shell's text. The shell finds the real git. */
export const SHELL_ALIAS = '!';

/** These take the next word as their value; those in `WITH_EQUALS` also take a value after `=`. */
const TAKE_NEXT_WORD = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--config-env',
  '--shallow-file',
  '--super-prefix',
  '--attr-source',
]);
const WITH_EQUALS = /^--(git-dir|work-tree|namespace|config-env|super-prefix|attr-source|exec-path)=/;

const FLAGS = new Set([
  '-p',
  '--paginate',
  '-P',
  '--no-pager',
  '--no-replace-objects',
  '--no-lazy-fetch',
  '--no-optional-locks',
  '--no-advice',
  '--bare',
  '--literal-pathspecs',
  '--no-literal-pathspecs',
  '--glob-pathspecs',
  '--noglob-pathspecs',
  '--icase-pathspecs',
]);

/** Undefined: a line without a command (`git --version`), or with an unknown option. */
export function parseCommandLine(words: readonly string[]): CommandLine | undefined {
  let disabled = false;
  const globals: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (!word.startsWith('-')) {
      return { globals, command: word, args: words.slice(i + 1), disabled };
    }
    if (word === '--disable-agt') {
      disabled = true;
    } else if (FLAGS.has(word) || WITH_EQUALS.test(word)) {
      globals.push(word);
    } else if (TAKE_NEXT_WORD.has(word) && i + 1 < words.length) {
      globals.push(word, words[++i] as string);
    } else {
      return undefined;
    }
  }
  return undefined;
}

/** Removes `--disable-agt` from the global options, also of a line that parseCommandLine() does not know. */
export function dropDisableFlag(words: readonly string[]): { words: readonly string[]; disabled: boolean } {
  for (let i = 0; i < words.length && words[i]?.startsWith('-'); i++) {
    if (words[i] === '--disable-agt') return { words: words.toSpliced(i, 1), disabled: true };
    if (TAKE_NEXT_WORD.has(words[i] as string)) i++;
  }
  return { words, disabled: false };
}

/** The global options that tell git where to look for the repository. */
export interface RepositoryOptions {
  /** The directory of each `-C`, relative to the one before. */
  readonly directories: readonly string[];
  /** Relative to the last of the directories. */
  readonly gitDir: string | undefined;
  /** The same. */
  readonly workTree: string | undefined;
  readonly bare: boolean;
}

export function repositoryOptions(globals: readonly string[]): RepositoryOptions {
  const directories: string[] = [];
  let gitDir: string | undefined;
  let workTree: string | undefined;
  let bare = false;
  for (let i = 0; i < globals.length; i++) {
    const word = globals[i] as string;
    if (word === '-C') directories.push(globals[++i] as string);
    else if (word === '--git-dir') gitDir = globals[++i];
    else if (word.startsWith('--git-dir=')) gitDir = word.slice('--git-dir='.length);
    else if (word === '--work-tree') workTree = globals[++i];
    else if (word.startsWith('--work-tree=')) workTree = word.slice('--work-tree='.length);
    else if (word === '--bare') bare = true;
    else if (TAKE_NEXT_WORD.has(word)) i++;
  }
  return { directories, gitDir, workTree, bare };
}

/** The global options without those that start a pager, for questions to git. */
export function withoutPagerOptions(globals: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < globals.length; i++) {
    const word = globals[i] as string;
    if (TAKE_NEXT_WORD.has(word)) kept.push(word, globals[++i] as string);
    else if (word !== '-p' && word !== '--paginate') kept.push(word);
  }
  return kept;
}
