/** `agt --help` and the manual page agt(1), which have the same text, since both come from the commands. */
import { SETTING_KEYS } from '../../config/setting-table.ts';
import { EXIT } from '../../errors.ts';
import { type Command, type OptionTable, usageOf } from '../command-line/command.ts';
import { valueName } from '../command-line/value-names.ts';
import { capitalized, sentence, table } from './format.ts';

type Pairs = readonly (readonly [left: string, right: string])[];

/** Commands by their heading. */
type Groups = Readonly<Record<string, readonly Command[]>>;

const BUILT_IN: Pairs = [
  ['agt help [command]', 'show this help, or the help of one command'],
  ['agt git <args..>', 'run the real git, which hides nothing'],
  ['agt <git command>', 'run any git command that agt does not have, such as agt log --all'],
  ['agt log --help', 'show the options of log that only agt has; agt diff --help, those of diff'],
];

const GLOBAL_OPTIONS: Pairs = [
  ['-C <path>', 'run as if agt was started in <path>'],
  ['--version', 'print the version'],
  ['-h, --help', 'show this help'],
];

/** One line of introduction each, for the overview and the manual. */
const INTRODUCTION = [
  'agt gives each coding agent a session on your git repository, and records everything that the agent does.',
  'Every snapshot can be restored. Your own branches and files stay as they are.',
];

/** The words that every command's help uses. */
const TERMS: Pairs = [
  ['session', 'a folder for one agent, with a sandbox and two branches'],
  ['sandbox', 'a git worktree in that folder; the agent edits and commits here'],
  ['work branch', 'the branch agt/<id>, checked out in the sandbox; holds the commits of the agent'],
  ['shadow branch', 'the branch agtsessions/<id>; holds one commit for each snapshot; only agt writes it'],
  [
    'snapshot',
    'the whole session folder, or your own checkout, at one time, with the index, untracked and ignored files',
  ],
  ['autocommit', 'adds a snapshot; run it after each step of the agent, with agt watch, or from cron'],
];

const EXAMPLES: Pairs = [
  ['agt hooks install --all', 'from now on each step of your agents is a snapshot, also without a session'],
  ['agt undo', 'take back the last step, here; agt redo goes forward'],
  ['agt restore @{2} -- src', 'bring back a directory from an earlier snapshot'],
  ['agt session new fix-login', 'create a session for an agent'],
  ['cd "$(agt session path fix-login)"', 'go to its sandbox and start the agent there'],
  ['agt watch', 'autocommit while agents work'],
  ['agt session log fix-login', 'list the snapshots'],
  ['agt restore fix-login @{1}', 'go back to an earlier snapshot'],
  ['agt session export fix-login', 'push the commits of the agent'],
];

/** `agt --help`: the words of agt, and every command under its heading. */
export function overview(groups: Groups, shortForms: Iterable<string>): string {
  const width = widthOf([...Object.values(groups).flat().map(rowOf), ...BUILT_IN, ...EXAMPLES]);
  const section = (heading: string, pairs: Pairs) => `${heading}\n${lines(pairs, width)}\n`;
  return [
    'usage: agt [-C <path>] <command> [options]\n\n',
    ...INTRODUCTION.map((line) => `${line}\n`),
    `\nTerms:\n${table(TERMS, '  ')}\n`,
    ...Object.entries(groups).map(([heading, commands]) => section(`${heading}:`, commands.map(rowOf))),
    `The word session can be left out: agt ${[...shortForms].join(', ')}.\n\n`,
    section('Help and git:', BUILT_IN),
    section('Options:', GLOBAL_OPTIONS),
    section('Examples:', EXAMPLES),
    'Called as "git", agt is git, but does not show work branches, shadow branches and snapshots.\n',
    'For that, put the script of "agt shim install" on the PATH of your agents.\n',
  ].join('');
}

function rowOf({ usage, summary }: Command): Pairs[number] {
  return [`agt ${usage}`, summary];
}

function lines(pairs: Pairs, width: number): string {
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('');
}

export function optionLines(options: OptionTable): string {
  return table(Object.entries(options).map(optionPair), '  ');
}

function widthOf(pairs: Pairs): number {
  return Math.max(...pairs.map(([left]) => left.length)) + 2;
}

/** In man(7) macros. */
export function manualPage(groups: Groups, version: string): string {
  const parts = [
    `.TH AGT 1 "" "agt ${version}" "agt manual"`,
    '.SH NAME',
    'agt \\- sessions and snapshots for coding agents in a git repository',
    '.SH SYNOPSIS',
    '.nf',
    '\\fBagt\\fR [\\fB\\-C\\fR \\fIpath\\fR] \\fIcommand\\fR [\\fIoptions\\fR]',
    '\\fBgit\\fR [\\fB\\-\\-disable\\-agt\\fR] \\fIany git command\\fR',
    '.fi',
    '.SH DESCRIPTION',
    roff(DESCRIPTION),
    ...definitions(TERMS),
    '.SH OPTIONS',
    ...definitions(GLOBAL_OPTIONS),
    ...Object.entries(groups).flatMap(([heading, commands]) => {
      return [`.SH ${heading.toUpperCase()}`, ...commands.flatMap(commandPart)];
    }),
    '.SH HELP AND GIT',
    ...definitions(BUILT_IN),
    '.SH CONFIGURATION',
    roff(CONFIGURATION),
    ...SETTING_KEYS.flatMap(setting),
    '.SH ENVIRONMENT',
    ...definitions(ENVIRONMENT),
    '.SH EXIT STATUS',
    ...definitions(EXIT_CODES),
    '.SH SEE ALSO',
    '\\fBgit\\fR(1), \\fBgit\\-worktree\\fR(1)',
  ];
  return `${parts.join('\n')}\n`;
}

const DESCRIPTION =
  `${INTRODUCTION.join(' ')} Called as "git", agt is git, but does not show work branches, shadow branches and ` +
  'snapshots. Terms:';

const CONFIGURATION =
  'Settings are kept in git-config syntax: in ~/.agtconfig for all repositories; for one repository in .agt/config beside ' +
  'the worktrees of an agt clone, or in agt/config in the git directory. A .agt/config inside a worktree is ignored, ' +
  'since other people can commit one. Environment variables win over files.';

const ENVIRONMENT: Pairs = [
  ['AGT_DISABLE_FILTER=1', 'called as git, hide nothing, as with git --disable-agt'],
  ['AGT_TRACE=1', 'print every git command line that agt runs to stderr'],
  ['AGT_DEBUG=1', 'print a stack trace with each error'],
];

const EXIT_CODES: Pairs = [
  [String(EXIT.done), 'success, or nothing to do'],
  [String(EXIT.failed), 'failure; the reason is on stderr'],
  [String(EXIT.usage), 'wrong usage; nothing changed'],
  [String(EXIT.busy), 'another agt is working on the same session; try again'],
  [String(EXIT.git), 'a git command failed; if git gave an exit code of its own, agt exits with that one'],
];

/** A term in bold, and its explanation as a sentence. */
function definitions(pairs: Pairs): string[] {
  return pairs.flatMap(([term, text]) => ['.TP', bold(term), roff(sentence(text))]);
}

function setting({ name, defaultValue, summary, ...key }: (typeof SETTING_KEYS)[number]): string[] {
  const sentences = [
    sentence(summary),
    ...(defaultValue === '' ? [] : [`Default: ${defaultValue}.`]),
    ...('env' in key ? [`Environment: ${key.env}.`] : []),
  ];
  return ['.TP', bold(name), roff(sentences.join(' '))];
}

function commandPart(command: Command): string[] {
  return [
    `.SS ${roff(usageOf(command))}`,
    roff(command.description ?? sentence(command.summary)).replaceAll('\n', '\n.br\n'),
    ...definitions(
      Object.entries(command.positionals ?? {}).map(([name, { describe = '' }]) => [`<${name}>`, describe]),
    ),
    ...definitions(Object.entries(command.options ?? {}).map(optionPair)),
    ...command.examples.flatMap(([line, purpose]) => [
      '.PP',
      roff(`${capitalized(purpose)}:`),
      '.RS',
      '.nf',
      roff(line),
      '.fi',
      '.RE',
    ]),
  ];
}

function optionPair([name, option]: [string, OptionTable[string]]): Pairs[number] {
  const short = typeof option.alias === 'string' ? `-${option.alias}, ` : '';
  const value = valueName(name, option);
  const shown = option.type === 'boolean' ? value && ` [<${value}>]` : ` <${value}>`;
  return [`${short}--${name}${shown ?? ''}`, option.describe ?? ''];
}

/** Escapes the characters that mean something to roff: backslashes, hyphens, leading dots and quotes. */
function roff(text: string): string {
  return text
    .replace(/\\/g, '\\e')
    .replace(/-/g, '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}
