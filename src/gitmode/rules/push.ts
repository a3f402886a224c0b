/**
 * git push: what sends refs that nobody named (`--all`, `--mirror`, `--tags`, wildcards, `:`) gets negative refspecs.
 * Git matches those against the destination, so a mapped wildcard excludes the mapped names.
 *
 * An explicit source is sent as asked, hidden or not. `--follow-tags` takes annotated tags only, and agt's are not.
 */

import { HEADS, TAGS } from '../../git/files/refnames.ts';
import {
  hasOption,
  lastOption,
  optionTable,
  type Scan,
  scanOptions,
  withoutOptions,
} from '../command-line/options.ts';
import { configIsTrue, currentUnder, lastConfig, type View } from '../view/view.ts';
import { defaultRemote } from './remotes.ts';
import type { Rewrite, Rule } from './rule.ts';

export const PUSH_OPTIONS = optionTable(`
  v|verbose q|quiet repo= all branches mirror d|delete tags n|dry-run porcelain f|force force-with-lease?
  force-if-includes recurse-submodules= thin receive-pack= exec= u|set-upstream progress prune no-verify verify
  follow-tags signed? atomic o|push-option= 4|ipv4 6|ipv6`);

export const push: Rule = (args, view) => {
  const scan = scanOptions(args, PUSH_OPTIONS);
  if (scan === undefined || view.namespaces.length === 0 || hasOption(scan, 'delete')) return undefined;
  const isOn = (name: string) => lastOption(scan, name, `no-${name}`)?.name === name;
  const [named, ...refspecs] = scan.args;
  const remote = named ?? lastOption(scan, 'repo')?.value ?? defaultRemote(view, 'push');
  if (remote === undefined) return undefined;
  const configuredMirror = configIsTrue(lastConfig(view, `remote.${remote}.mirror`));
  const all = isOn('all') || isOn('branches');

  if (all || isOn('mirror') || configuredMirror) {
    // What git refuses together, it refuses in its own words.
    if (refspecs.length > 0 || isOn('tags') || (all && (isOn('mirror') || configuredMirror)))
      return undefined;
    return all ? everyBranch(scan, remote, view) : everything(scan, remote, configuredMirror, view);
  }
  const given = [...refspecs, ...(isOn('tags') ? [`${TAGS}*`] : [])];
  if (given.length > 0) {
    const negative = given.flatMap((refspec) => withoutHidden(refspec, view));
    if (negative.length === 0) return undefined;
    return { args: [...scan.optionWords, '--', remote, ...refspecs, ...unique(negative)] };
  }
  return byConfiguration(scan, remote, view);
};

/** A push without refspecs: what remote.<r>.push or push.default say. */
function byConfiguration(scan: Scan, remote: string, view: View): Rewrite | undefined {
  const configured = view.config(`remote.${remote}.push`);
  if (configured.length > 0) {
    const negative = unique(configured.flatMap((refspec) => withoutHidden(refspec, view)));
    if (negative.length === 0) return undefined;
    return {
      config: negative.map((refspec) => `remote.${remote}.push=${refspec}`),
      args: [...scan.optionWords, ...(scan.args.length > 0 ? ['--', ...scan.args] : [])],
    };
  }
  if (lastConfig(view, 'push.default') !== 'matching') return undefined;
  const negative = withoutHidden(':', view);
  return negative.length === 0 ? undefined : { args: [...scan.optionWords, '--', remote, ':', ...negative] };
}

function everyBranch(scan: Scan, remote: string, view: View): Rewrite | undefined {
  const negative = withoutHidden(`${HEADS}*`, view);
  if (negative.length === 0) return undefined;
  return {
    args: [
      ...(withoutOptions(scan, 'all', 'branches') ?? []),
      '--',
      remote,
      `${HEADS}*:${HEADS}*`,
      ...negative,
    ],
  };
}

function everything(scan: Scan, remote: string, configured: boolean, view: View): Rewrite {
  return {
    config: configured ? [`remote.${remote}.mirror=false`] : [],
    args: [
      ...(withoutOptions(scan, 'mirror') ?? []),
      '--prune',
      '--force',
      '--',
      remote,
      'refs/*:refs/*',
      ...withoutHidden('refs/*', view),
    ],
  };
}

/**
 * Negative refspecs that keep hidden refs out of a positive one: none for an explicit source, the mapped namespaces for a
 * wildcard, the branches for `:`. The branch checked out here is not hidden, and a negative refspec knows no
 * exceptions: its neighbours are named one by one.
 */
function withoutHidden(refspec: string, view: View): string[] {
  const plain = refspec.replace(/^\+/, '');
  if (plain.startsWith('^')) return [];
  const matching = plain === ':' || plain === '';
  const [from = '', to = from] = matching ? [`${HEADS}*`] : plain.split(':');
  const star = from.indexOf('*');
  if (star === -1) return [];
  const [before, after] = [from.slice(0, star), from.slice(star + 1)];
  const mapped = (source: string) => `^${to.replace('*', () => source.slice(before.length))}`;
  return hiddenWords(view).flatMap((word) => {
    if (word.startsWith(before)) {
      if (word.endsWith('*')) return [mapped(word)];
      return word.endsWith(after) ? [mapped(word.slice(0, word.length - after.length))] : [];
    }
    return word.endsWith('*') && before.startsWith(word.slice(0, -1)) ? [`^${to}`] : [];
  });
}

/** Namespaces as `…/*`; the one with the branch checked out here as names. */
function hiddenWords(view: View): string[] {
  const current = currentUnder(view, '');
  return view.namespaces.flatMap((namespace) =>
    current?.startsWith(namespace)
      ? view.hiddenRefs().filter((ref) => ref.startsWith(namespace))
      : [`${namespace}*`],
  );
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}
