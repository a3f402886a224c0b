/**
 * git fetch, pull and remote update: negative refspecs for every remote that has a positive one (alone, a negative
 * refspec would make fetch fetch nothing). They also keep `--prune` from deleting hidden tracking refs.
 *
 * A wildcard on the command line gets negative refspecs behind it; nothing else of the words is touched.
 */

import type { View } from '../view/view.ts';
import { remoteShow } from './remote-show.ts';
import type { Rewrite, Rule } from './rule.ts';

export const fetch: Rule = (args, view) => {
  const wildcard = args.some((arg) => /^\+?refs\/[^:]*\*/.test(arg)) && view.namespaces.length > 0;
  const negative = wildcard ? view.hiddenOnRemotes.map((namespace) => `^${namespace}*`) : [];
  return withNegativeRefspecs([...args, ...negative], view);
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
    const positive = view.config(`remote.${name}.fetch`).filter((refspec) => !refspec.startsWith('^'));
    const roots = new Set(positive.map((refspec) => refspec.replace(/^\+/, '')));
    if (![...roots].some((refspec) => refspec.includes('*'))) return [];
    return view.hiddenOnRemotes.map((namespace) => `remote.${name}.fetch=^${namespace}*`);
  });
  return config.length === 0 ? undefined : { config, args };
}
