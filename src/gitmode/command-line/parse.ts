/**
 * Splits a command line as git.c does: global options, the command, its arguments. git takes no abbreviations of global
 * options. A line with an option that this file does not know is unknown to git mode, and git gets it as it is.
 */

export interface CommandLine {
  /** Every word before the command, as given. */
  readonly globals: readonly string[];
  readonly command: string;
  /** The words after the command. */
  readonly args: readonly string[];
}

/** The command of a shell alias; the first argument is the shell's text. The shell finds the real git. */
export const SHELL_ALIAS = '!';

/** These take the next word as their value; those in `WITH_EQUALS` also take a value after `=`. */
const TAKE_NEXT_WORD = new Set(
  '-C -c --git-dir --work-tree --namespace --config-env --shallow-file --super-prefix --attr-source'.split(
    ' ',
  ),
);
const WITH_EQUALS = /^--(git-dir|work-tree|namespace|config-env|super-prefix|attr-source|exec-path)=/;

const FLAGS = new Set(
  `-p --paginate -P --no-pager --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --bare
  --literal-pathspecs --no-literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs`.split(
    /\s+/,
  ),
);

/** The options before the command, each with the next word if that is its value. */
function optionsBeforeCommand(words: readonly string[]): (readonly string[])[] {
  const options: (readonly string[])[] = [];
  for (let i = 0; words[i]?.startsWith('-') === true; i += options.at(-1)?.length ?? 1)
    options.push(words.slice(i, i + (TAKE_NEXT_WORD.has(words[i] ?? '') ? 2 : 1)));
  return options;
}

/** Undefined: a line without a command (`git --version`), or with an unknown option. */
export function parseCommandLine(words: readonly string[]): CommandLine | undefined {
  const options = optionsBeforeCommand(words);
  const globals = options.flat();
  const [command, ...args] = words.slice(globals.length);
  const areKnown = options.every(
    ([option = '', value]) => value !== undefined || FLAGS.has(option) || WITH_EQUALS.test(option),
  );
  return command === undefined || !areKnown ? undefined : { globals, command, args };
}

/** Removes `--disable-agt` from the global options, also of a line that parseCommandLine() does not know. */
export function dropDisableFlag(words: readonly string[]): { words: readonly string[]; disabled: boolean } {
  const options = optionsBeforeCommand(words);
  const kept = options.filter(([option]) => option !== '--disable-agt');
  const rest = words.slice(options.flat().length);
  return { words: [...kept.flat(), ...rest], disabled: kept.length < options.length };
}

/** Where git looks: `directories` of each `-C`, relative to the one before; the other paths, to the last of them. */
export function repositoryOptions(globals: readonly string[]) {
  const options = optionsBeforeCommand(globals).map(([option = '', value]): readonly [string, string] => {
    const [name = '', attached = ''] = option.split(/=(.*)/s);
    return [name, value ?? attached];
  });
  const last = (wanted: string) => options.findLast(([name]) => name === wanted)?.[1];
  return {
    directories: options.flatMap(([name, value]) => (name === '-C' ? [value] : [])),
    gitDir: last('--git-dir'),
    workTree: last('--work-tree'),
    bare: last('--bare') !== undefined,
  };
}

/** The global options without those that start a pager, for questions to git. */
export function withoutPagerOptions(globals: readonly string[]): string[] {
  return optionsBeforeCommand(globals)
    .filter(([option]) => option !== '-p' && option !== '--paginate')
    .flat();
}
