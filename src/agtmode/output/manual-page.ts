/** The manual page agt(1), in man(7) macros. It has the same text as the help, since both come from the commands. */
import { SETTING_KEYS } from '../../config/keys.ts';
import { EXIT } from '../../errors.ts';
import { type Command, GROUPS, type OptionTable, type PositionalTable } from '../command-line/command.ts';
import { capitalized, sentence } from './format.ts';
import { BUILT_IN, GLOBAL_OPTIONS, HEADINGS, INTRODUCTION, type Pairs, TERMS } from './overview.ts';

export function manualPage(commands: readonly Command[], version: string): string {
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
    ...GROUPS.flatMap((group) => commandGroup(group, commands)),
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

function commandGroup(group: (typeof GROUPS)[number], commands: readonly Command[]): string[] {
  const heading = HEADINGS[group].replace(/:$/, '').toUpperCase();
  return [`.SH ${heading}`, ...commands.filter((command) => command.group === group).flatMap(commandPart)];
}

function commandPart(command: Command): string[] {
  return [
    `.SS ${roff(`agt ${command.usage}`)}`,
    roff(command.description ?? sentence(command.summary)),
    ...definitions(Object.entries(command.positionals ?? {}).map(positionalPair)),
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

function positionalPair([name, { describe = '' }]: [string, PositionalTable[string]]): Pairs[number] {
  return [`<${name}>`, describe];
}

function optionPair([name, option]: [string, OptionTable[string]]): Pairs[number] {
  const short = typeof option.alias === 'string' ? `-${option.alias}, ` : '';
  const value = option.type === 'boolean' ? '' : ` <${option.type === 'string' ? 'value' : option.type}>`;
  return [`${short}--${name}${value}`, option.describe ?? ''];
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
