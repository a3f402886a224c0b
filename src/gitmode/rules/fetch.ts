/**
 * git fetch, pull and remote update: negative refspecs for every remote that has a wildcard refspec. A negative refspec
 * alone would make fetch fetch nothing. It also keeps `--prune` from deleting hidden remote-tracking refs.
 *
 * A wildcard refspec on the command line gets negative refspecs after it.
 */

import { type AllPrefixes, localNamespaces } from '../../filter/agent-refs.ts';
import type { View } from '../view/view.ts';
import { remoteShow } from './remote-show.ts';
import type { Rewrite, Rule } from './rule.ts';

export const fetch: Rule = (args, view) => {
  const wildcard = args.some((arg) => /^\+?refs\/[^:]*\*/.test(arg)) && view.namespaces.length > 0;
  return withNegativeRefspecs([...args, ...(wildcard ? negativeRefspecs(view.prefixes) : [])], view);
};

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
