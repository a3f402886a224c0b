/**
 * git show-ref. Its patterns are names without wildcards, matched from the right, so the visible full names are given.
 * Git compares each ref with each of them; where they are many, for-each-ref prints the same lines in linear time.
 */

import { HEADS, TAGS } from '../../git/files/refnames.ts';
import { hasOption, optionTable, type Scan, scanOptions } from '../command-line/options.ts';
import type { View } from '../view/view.ts';
import { forEachRef } from './for-each-ref.ts';
import type { Rewrite, Rule } from './rule.ts';
import { fits, NOTHING } from './words.ts';

export const SHOW_REF_OPTIONS = optionTable(`
  tags heads branches exists verify head d|dereference s|hash? abbrev? q|quiet exclude-existing?`);

/** Names up to which git's own comparing costs less than another way. */
const MANY = 500;

export const showRef: Rule = (args, view) => {
  const scan = scanOptions(args, SHOW_REF_OPTIONS);
  if (scan === undefined || hasOption(scan, 'verify', 'exists', 'exclude-existing')) return undefined;
  const kinds = [
    ...(hasOption(scan, 'heads', 'branches') ? [HEADS] : []),
    ...(hasOption(scan, 'tags') ? [TAGS] : []),
  ];
  if (scan.options.some((option) => option.name.startsWith('no-'))) return undefined;
  if (
    kinds.length > 0 &&
    !view.namespaces.some((namespace) => kinds.some((kind) => namespace.startsWith(kind)))
  )
    return undefined;

  const visible = scan.args.length === 0 ? ofKinds(view.visibleRefs(), kinds) : matching(view, scan);
  if (visible === undefined) return undefined;
  const linear = visible.length > MANY ? asForEachRef(scan, kinds, view) : undefined;
  if (linear !== undefined) return linear;
  return fits(visible)
    ? { args: [...scan.optionWords, '--', ...(visible.length === 0 ? [NOTHING] : visible)] }
    : undefined;
};

function ofKinds(names: readonly string[], kinds: readonly string[]): readonly string[] {
  return kinds.length === 0 ? names : names.filter((name) => kinds.some((kind) => name.startsWith(kind)));
}

function matching(view: View, scan: Scan): string[] | undefined {
  const kinds = scan.options.filter((option) => ['heads', 'branches', 'tags', 'head'].includes(option.name));
  const flags = kinds.map((option) => `--${option.name === 'branches' ? 'heads' : option.name}`);
  const lines = view
    .ask(['show-ref', ...flags, '--', ...scan.args])
    .stdout.split('\n')
    .filter(Boolean);
  const names = lines.map((line) => line.slice(line.indexOf(' ') + 1));
  const visible = names.filter((name) => !view.isHidden(name));
  return visible.length === names.length ? undefined : visible.filter((name) => name !== 'HEAD');
}

/** The plain list and `-d`; the other forms are left to show-ref. */
function asForEachRef(scan: Scan, kinds: readonly string[], view: View): Rewrite | undefined {
  const known = ['heads', 'branches', 'tags', 'dereference'];
  if (scan.args.length > 0 || !scan.options.every((option) => known.includes(option.name))) return undefined;
  const peeled = '%(if)%(*objectname)%(then)%0a%(*objectname) %(refname)^{}%(end)';
  const format = `%(objectname) %(refname)${hasOption(scan, 'dereference') ? peeled : ''}`;
  const list = forEachRef([`--format=${format}`, ...kinds], view);
  return list !== undefined && 'args' in list ? { command: 'for-each-ref', args: list.args } : undefined;
}
