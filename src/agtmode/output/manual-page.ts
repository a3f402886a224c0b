/** The manual page agt(1), in man(7) macros, from the same declarations that yargs parses. */
import { SETTING_KEYS } from '../../config/keys.ts';
import { sentence } from '../command-line/cli.ts';
import { type Command, GROUPS, type OptionTable } from '../command-line/command.ts';
import { BUILT_IN, GLOBAL_OPTIONS, HEADINGS } from './overview.ts';

export function manualPage(commands: readonly Command[], version: string): string {
  const parts = [
    `.TH AGT 1 "" "agt ${version}" "agt manual"`,
    '.SH NAME',
    'agt \\- git for people who run coding agents',
    '.SH SYNOPSIS',
    '.nf',
    '\\fBagt\\fR [\\fB\\-C\\fR \\fIpath\\fR] \\fIcommand\\fR [\\fIoptions\\fR]',
    '\\fBgit\\fR [\\fB\\-\\-disable\\-agt\\fR] \\fIany git command\\fR',
    '.fi',
    '.SH DESCRIPTION',
    roff(
      'agt keeps one sandbox (a git worktree) and two branches per agent session: the work branch, which holds what ' +
        'the agent commits, and the shadow branch, whose autocommits hold the whole session folder. Called as "git", it ' +
        'is git, except that agent branches and agent-authored commits are not there.',
    ),
    '.SH OPTIONS',
    ...GLOBAL_OPTIONS.flatMap(([option, what]) => ['.TP', bold(option), roff(what)]),
  ];
  for (const group of GROUPS) {
    const members = commands.filter((command) => command.group === group);
    if (members.length > 0)
      parts.push(`.SH ${HEADINGS[group].replace(/:$/, '').toUpperCase()}`, ...members.flatMap(commandPart));
  }
  parts.push('.SH GIT', ...BUILT_IN.flatMap(([call, what]) => ['.TP', bold(call), roff(what)]));
  parts.push('.SH CONFIGURATION', roff(CONFIGURATION));
  for (const { name, fallback, summary, ...key } of SETTING_KEYS) {
    const notes = [
      fallback === '' ? '' : `Default: ${fallback}.`,
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
  'git-config syntax: ~/.agtconfig for all of yours; for one repository .agt/config in the area of an agt clone, or ' +
  'agt/config in the common git directory. A .agt/config inside a worktree is ignored.';

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ['AGT_DISABLE_FILTER=1', 'Called as git, show everything, as git --disable-agt does.'],
  ['AGT_TRACE=1', 'Print each real command line to stderr.'],
  ['AGT_DEBUG=1', 'Print the stack of an error.'],
];

const EXIT_CODES: readonly (readonly [string, string])[] = [
  ['0', 'Done, or nothing to do.'],
  ['1', 'Could not be done; the reason is on stderr.'],
  ['2', 'Wrong usage; nothing was changed.'],
  ['75', 'Busy: another agt works on the same session. Try again.'],
  ['128', 'git failed; its own code where it gave one.'],
];

function commandPart(command: Command): string[] {
  return [
    `.SS ${roff(`agt ${command.usage}`)}`,
    roff(command.description ?? sentence(command.summary)),
    ...optionParts({ ...command.positionals, ...command.options }),
    ...command.examples.flatMap(([line, what]) => [
      '.PP',
      roff(`${what.charAt(0).toUpperCase()}${what.slice(1)}:`),
      '.RS',
      '.nf',
      roff(line),
      '.fi',
      '.RE',
    ]),
  ];
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
