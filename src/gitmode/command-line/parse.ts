/**
 * Splits a command line as git.c does: global options, the command, its words. git takes no abbreviations here.
 * An option that this table does not know makes the whole line unknown, and git gets it untouched.
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

/** Stands for the command of a shell alias: its first argument is the shell's text. git is the real one there. */
export const SHELL = '!';

/** Value as the next word; those in `WITH_EQUALS` also after `=`. */
const NEXT_WORD = new Set([
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

/** Undefined: nothing for git mode to do (no command, a question to git itself, or an unknown option). */
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
    } else if (NEXT_WORD.has(word) && i + 1 < words.length) {
      globals.push(word, words[++i] as string);
    } else {
      return undefined;
    }
  }
  return undefined;
}

/** Whether `--disable-agt` stands among the global options, wherever the line leads. */
export function dropDisableFlag(words: readonly string[]): { words: readonly string[]; disabled: boolean } {
  for (let i = 0; i < words.length && words[i]?.startsWith('-'); i++) {
    if (words[i] === '--disable-agt') return { words: words.toSpliced(i, 1), disabled: true };
    if (NEXT_WORD.has(words[i] as string)) i++;
  }
  return { words, disabled: false };
}

/** Where the globals make git look for the repository. Both relative to `cwd`, as git applies them in order. */
export interface Start {
  readonly directories: readonly string[];
  readonly gitDir: string | undefined;
  readonly bare: boolean;
}

export function startOf(globals: readonly string[]): Start {
  const directories: string[] = [];
  let gitDir: string | undefined;
  let bare = false;
  for (let i = 0; i < globals.length; i++) {
    const word = globals[i] as string;
    if (word === '-C') directories.push(globals[++i] as string);
    else if (word === '--git-dir') gitDir = globals[++i];
    else if (word.startsWith('--git-dir=')) gitDir = word.slice('--git-dir='.length);
    else if (word === '--bare') bare = true;
    else if (NEXT_WORD.has(word)) i++;
  }
  return { directories, gitDir, bare };
}

/** The globals that a question to git needs: all but the pager's. */
export function withoutPager(globals: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < globals.length; i++) {
    const word = globals[i] as string;
    if (NEXT_WORD.has(word)) kept.push(word, globals[++i] as string);
    else if (word !== '-p' && word !== '--paginate') kept.push(word);
  }
  return kept;
}
