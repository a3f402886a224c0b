/**
 * git fetch, remote and ls-remote. fetch, pull and remote update get negative refspecs for every remote with a wildcard
 * refspec: a negative refspec alone would make fetch fetch nothing. It also keeps `--prune` from deleting hidden
 * remote-tracking refs. A wildcard refspec on the command line gets negative refspecs after it.
 *
 * Limit: remote show finds the second column and the singular by git's English words. In another language they stay.
 */
import { type AllPrefixes, localNamespaces } from '../../filter/agent-refs.ts';
import { HEADS } from '../../git/files/ref-files.ts';
import { hasOption, optionTable, parseOptions } from '../command-line/options.ts';
import type { View } from '../view/view.ts';
import { type FilteredOutput, narrowed, type Rewrite, type Rule } from './rule.ts';

export function fetch(args: readonly string[], view: View): Rewrite | undefined {
  const wildcard = args.some((arg) => /^\+?refs\/[^:]*\*/.test(arg)) && view.namespaces.length > 0;
  return withNegativeRefspecs([...args, ...(wildcard ? negativeRefspecs(view.prefixes) : [])], view);
}

export const remote: Rule = (args, view) => {
  const [subcommand, ...rest] = args.filter((arg) => !/^(-v|--verbose)$/.test(arg));
  if (subcommand === 'update' || subcommand === 'prune') return withNegativeRefspecs(args, view);
  const isShow =
    subcommand === 'show' && rest.some((arg) => !arg.startsWith('-')) && view.namespaces.length > 0;
  return isShow ? remoteShow(args, view) : undefined;
};

function withNegativeRefspecs(args: readonly string[], view: View): Rewrite | undefined {
  if (view.namespaces.length === 0) return undefined;
  const config = view.remotes().flatMap((name) => {
    const key = `remote.${name}.fetch`;
    const hasWildcard = view.config(key).some((refspec) => !refspec.startsWith('^') && refspec.includes('*'));
    return hasWildcard && view.submodulesKnow(name)
      ? negativeRefspecs(view.prefixes).map((refspec) => `${key}=${refspec}`)
      : [];
  });
  return config.length === 0 ? undefined : { config, args };
}

/** For the namespaces that the other repository may hold, whether or not this one has refs there. */
export function negativeRefspecs(prefixes: AllPrefixes): string[] {
  return localNamespaces(prefixes).map((namespace) => `^${namespace}*`);
}

/**
 * git remote show asks the server and takes no pattern, so agt prints git's answer without the lines of hidden
 * branches, without the padding that only a hidden name needed, and with a singular heading over one remaining line.
 */
function remoteShow(args: readonly string[], view: View): FilteredOutput {
  return {
    filtered: () => {
      const { exitCode, stdout } = view.capture(['remote', ...args]);
      return { exitCode, stdout: withoutHiddenBranches(stdout, view) };
    },
  };
}

const SINGULAR: readonly (readonly [string, string])[] = [
  ['  Remote branches:', '  Remote branch:'],
  ['  Local branches configured for', '  Local branch configured for'],
  ['  Local refs configured for', '  Local ref configured for'],
];

/** The blanks after a name, and those after the ref that a push goes to. */
const COLUMNS = [/(?<=^ {4,}\S+) +/, /(?<= pushes to \S+) +(?=\()/];

function withoutHiddenBranches(text: string, view: View): string {
  const out: string[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const heading = lines[i] as string;
    const rows: string[] = [];
    while (lines[i + 1]?.startsWith('    ')) rows.push(lines[++i] as string);
    const kept = rows.filter((row) => !isHiddenRow(row, view));
    if (rows.length > 0 && kept.length === 0) continue;
    out.push(kept.length === 1 && rows.length > 1 ? singular(heading) : heading);
    out.push(...COLUMNS.reduce<readonly string[]>((shown, column) => narrowed(shown, rows, column), kept));
  }
  return out.join('\n');
}

function isHiddenRow(row: string, view: View): boolean {
  const name = /^ +(\S+)/.exec(row)?.[1] ?? '';
  return view.isHidden(name.startsWith('refs/') ? name : `${HEADS}${name}`);
}

function singular(heading: string): string {
  const [plural, one] = SINGULAR.find(([start]) => heading.startsWith(start)) ?? ['', ''];
  return heading.replace(plural, one);
}

const LS_REMOTE_OPTIONS = optionTable(`
  q|quiet upload-pack= exec= t|tags branches h|heads !b refs get-url sort= exit-code symref o|server-option=`);

/** The exit code with `--exit-code`, when no ref matches. */
const NO_REF_MATCHED = 2;

/**
 * agt prints git's output without the refs in agt's namespaces of the other repository. An argument could do the same, but
 * only after asking the server, and perhaps for the password, twice.
 */
export const lsRemote: Rule = (args, view) => {
  const parsed = parseOptions(args, LS_REMOTE_OPTIONS);
  if (parsed === undefined || hasOption(parsed, 'get-url') || view.namespaces.length === 0) return undefined;
  return {
    filtered: () => {
      const { exitCode, stdout } = view.capture(['ls-remote', ...args]);
      const lines = stdout.split('\n');
      const kept = lines.filter((line) => !view.isAgentRef(line.slice(line.indexOf('\t') + 1)));
      const onlyHidden = kept.length < lines.length && kept.every((line) => line === '');
      const fails = onlyHidden && exitCode === 0 && hasOption(parsed, 'exit-code');
      return { exitCode: fails ? NO_REF_MATCHED : exitCode, stdout: kept.join('\n') };
    },
  };
};
