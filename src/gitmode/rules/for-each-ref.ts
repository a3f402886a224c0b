/**
 * git for-each-ref and `git refs list`. Whole directories (no pattern, `refs/heads`) become the complement of the
 * hidden namespaces in them, which every git understands. Where a pattern holds wildcards git is asked what it matches.
 * `--stdin`, `--start-after` and `--include-root-refs` change what patterns mean; the gits that have them have
 * `--exclude` too (but 2.41, whose `--stdin` is left alone by its own error).
 */
import { canComplement, complementPaths, escapeGlob } from '../../filter/globs.ts';
import { hasOption, optionTable, type Scan, scanOptions } from '../command-line/options.ts';
import { namespacesUnder, type View } from '../view/view.ts';
import type { Rule } from './rule.ts';
import { fits, NOTHING } from './words.ts';

export const FOR_EACH_REF_OPTIONS = optionTable(`
  s|shell p|perl python tcl omit-empty count= format= start-after= color? exclude= sort= points-at= !merged~ !no-merged~
  !contains~ !no-contains~ i|ignore-case stdin include-root-refs`);

export const forEachRef: Rule = (args, view) => {
  const scan = scanOptions(args, FOR_EACH_REF_OPTIONS);
  if (scan === undefined || view.namespaces.length === 0) return undefined;
  if (hasOption(scan, 'stdin', 'start-after', 'include-root-refs')) return { args: withExcludes(args, view) };
  const bases = scan.args.length === 0 ? ['refs/'] : scan.args.map((pattern) => asDirectory(pattern));
  const affected = bases.some(
    (base) => base === undefined || namespacesUnder(view, base).length > 0 || inNamespace(view, base),
  );
  if (!affected) return undefined;
  const patterns = plain(view, bases, scan) ?? resolved(view, scan);
  if (patterns === undefined || !fits(patterns)) return undefined;
  return { args: [...closed(scan), '--', ...patterns] };
};

export const refs: Rule = (args, view) => {
  if (args[0] !== 'list') return undefined;
  const list = forEachRef(args.slice(1), view);
  return list !== undefined && 'args' in list ? { args: ['list', ...list.args] } : list;
};

function closed(scan: Scan): string[] {
  const last = scan.options.at(-1);
  const bare = last !== undefined && last.value === undefined && /^(no-)?(merged|contains)$/.test(last.name);
  return bare ? [...scan.optionWords.slice(0, -1), `${scan.optionWords.at(-1)}=HEAD`] : [...scan.optionWords];
}

/** The directory that a pattern without wildcards names, or undefined. A ref of that very name is the same word. */
function asDirectory(pattern: string): string | undefined {
  if (/[*?[\\]/.test(pattern)) return undefined;
  return pattern.endsWith('/') ? pattern : `${pattern}/`;
}

function inNamespace(view: View, base: string): boolean {
  return view.namespaces.some((namespace) => base.startsWith(namespace));
}

/** Patterns for whole directories, or undefined where one of them needs git's own matching. */
function plain(view: View, bases: readonly (string | undefined)[], scan: Scan): string[] | undefined {
  if (hasOption(scan, 'ignore-case') || !canComplement(view.namespaces)) return undefined;
  const words: string[] = [];
  for (const [i, base] of bases.entries()) {
    if (base === undefined || inNamespace(view, base)) return undefined;
    const within = view.namespaces.filter((namespace) => namespace.startsWith(base));
    if (within.length === 0) words.push(scan.args[i] as string);
    else words.push(...complementPaths(within, base));
  }
  if (view.current !== undefined && bases.some((base) => view.current?.startsWith(base as string))) {
    words.push(view.current);
  }
  return words;
}

/** The visible names that the user's patterns match, or undefined where those match nothing hidden. */
function resolved(view: View, scan: Scan): string[] | undefined {
  const flags = hasOption(scan, 'ignore-case') ? ['--ignore-case'] : [];
  const { stdout } = view.ask(['for-each-ref', ...flags, '--format=%(refname)', '--', ...scan.args]);
  const names = stdout.split('\n').filter(Boolean);
  const visible = names.filter((name) => !view.isHidden(name));
  if (visible.length === names.length) return undefined;
  return visible.length === 0 ? [NOTHING] : visible.map(escapeGlob);
}

function withExcludes(args: readonly string[], view: View): string[] {
  const current = view.current;
  const excludes = view.namespaces.flatMap((namespace) =>
    current?.startsWith(namespace)
      ? [...complementPaths([current], namespace), `${escapeGlob(current)}?*`]
      : [namespace],
  );
  return [...excludes.map((pattern) => `--exclude=${pattern}`), ...args];
}
