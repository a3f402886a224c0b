/** The manual page agt(1), in man(7) macros, from the same declarations that yargs parses. */
import { SETTING_KEYS } from '../../config/keys.ts';
import { type Command, GROUPS, type OptionTable, type PositionalTable } from '../command-line/command.ts';
import { capitalized, sentence } from './format.ts';
import { BUILT_IN, GLOBAL_OPTIONS, HEADINGS, INTRODUCTION, TERMS } from './overview.ts';

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
    roff(
      `${INTRODUCTION.join(' ')} Called as "git", agt is git, but does not show work branches, shadow branches and ` +
        'snapshots. Terms:',
    ),
    ...TERMS.flatMap(([term, meaning]) => ['.TP', bold(term), roff(sentence(meaning))]),
    '.SH OPTIONS',
    ...GLOBAL_OPTIONS.flatMap(([option, what]) => ['.TP', bold(option), roff(sentence(what))]),
  ];
  for (const group of GROUPS) {
    const members = commands.filter((command) => command.group === group);
    if (members.length > 0)
      parts.push(`.SH ${HEADINGS[group].replace(/:$/, '').toUpperCase()}`, ...members.flatMap(commandPart));
  }
  parts.push(
    '.SH HELP AND GIT',
    ...BUILT_IN.flatMap(([call, what]) => ['.TP', bold(call), roff(sentence(what))]),
  );
  parts.push('.SH CONFIGURATION', roff(CONFIGURATION));
  for (const { name, defaultValue, summary, ...key } of SETTING_KEYS) {
    const notes = [
      defaultValue === '' ? '' : `Default: ${defaultValue}.`,
      'env' in key ? `Environment: ${key.env}.` : '',
    ];
    parts.push(
      '.TP',
      bold(name),
      roff([sentence(summary), ...notes].filter((note) => note !== '').join(' ')),
    );
  }
  parts.push('.SH ENVIRONMENT', ...ENVIRONMENT.flatMap(([name, what]) => ['.TP', bold(name), roff(what)]));
  parts.push('.SH EXIT STATUS', ...EXIT_CODES.flatMap(([code, what]) => ['.TP', bold(code), roff(what)]));
  parts.push('.SH SEE ALSO', '\\fBgit\\fR(1), \\fBgit\\-worktree\\fR(1)');
  return `${parts.join('\n')}\n`;
}

const CONFIGURATION =
  'Settings are kept in git-config syntax: in ~/.agtconfig for all repositories; for one repository in .agt/config beside ' +
  'the worktrees of an agt clone, or in agt/config in the git directory. A .agt/config inside a worktree is ignored, ' +
  'since other people can commit one. Environment variables win over files.';

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ['AGT_DISABLE_FILTER=1', 'Called as git, hide nothing, as with git --disable-agt.'],
  ['AGT_TRACE=1', 'Print every git command line that agt runs to stderr.'],
  ['AGT_DEBUG=1', 'Print a stack trace with each error.'],
];

const EXIT_CODES: readonly (readonly [string, string])[] = [
  ['0', 'Success, or nothing to do.'],
  ['1', 'Failure; the reason is on stderr.'],
  ['2', 'Wrong usage; nothing changed.'],
  ['75', 'Another agt is working on the same session; try again.'],
  ['128', 'git failed; if git gave an exit code of its own, agt exits with that one.'],
];

function commandPart(command: Command): string[] {
  return [
    `.SS ${roff(`agt ${command.usage}`)}`,
    roff(command.description ?? sentence(command.summary)),
    ...positionalParts(command.positionals ?? {}),
    ...optionParts(command.options ?? {}),
    ...command.examples.flatMap(([line, what]) => [
      '.PP',
      roff(`${capitalized(what)}:`),
      '.RS',
      '.nf',
      roff(line),
      '.fi',
      '.RE',
    ]),
  ];
}

function positionalParts(positionals: PositionalTable): string[] {
  return Object.entries(positionals).flatMap(([name, positional]) => [
    '.TP',
    bold(`<${name}>`),
    roff(sentence(positional.describe ?? '')),
  ]);
}

function optionParts(options: OptionTable): string[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const short = typeof option.alias === 'string' ? `-${option.alias}, ` : '';
    const value = option.type === 'boolean' ? '' : ` <${option.type === 'string' ? 'value' : option.type}>`;
    return ['.TP', bold(`${short}--${name}${value}`), roff(sentence(option.describe ?? ''))];
  });
}

/** Text as roff prints it: backslashes, hyphens and leading dots are its own. */
function roff(text: string): string {
  return text
    .replace(/\\/g, '\\e')
    .replace(/-/g, '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`;
}
