/** Which commits a rebase takes, by the rules of git's builtin/rebase.c, and which hidden branches point to them. */
import { HEADS } from '../../git/files/ref-files.ts';
import { hasOption, lastOption, type ParsedOptions } from '../command-line/options.ts';
import { configValue, isConfigTrue, type View } from '../view/view.ts';

/** Commits, each by its name, and the base that git would find. */
export interface RebasedRange {
  /** Undefined with --root. */
  readonly upstream: string | undefined;
  readonly onto: string | undefined;
  readonly head: string;
}

const UPSTREAM = '@{upstream}';

/** Undefined if git would refuse. */
export function rebasedRange(parsed: ParsedOptions, view: View): RebasedRange | undefined {
  const isOn = (name: string) => lastOption(parsed, name, `no-${name}`)?.name === name;
  const [named, branch = 'HEAD'] = isOn('root')
    ? [undefined, ...parsed.args]
    : [upstreamName(parsed), parsed.args[1]];
  const head = commitOf(branch, view);
  const upstream = named === undefined ? undefined : commitOf(named, view);
  if (head === undefined || (upstream === undefined && named !== undefined)) return undefined;
  const onto = lastOption(parsed, 'onto')?.value;
  if (upstream !== undefined && isOn('keep-base'))
    return { upstream, onto: mergeBase(upstream, head, view), head };
  return { upstream, onto: onto === undefined ? upstream : ontoCommit(onto, view), head };
}

function upstreamName({ args: [name = UPSTREAM] }: ParsedOptions): string {
  return name === '-' ? '@{-1}' : name;
}

/** The hidden branches that point to a commit of the range. git itself leaves those that a worktree has checked out. */
export function hiddenBranches({ upstream, head }: RebasedRange, view: View): string[] {
  const excluded = upstream === undefined ? [] : [`--no-merged=${upstream}`];
  return hiddenBranchesIn([`--merged=${head}`, ...excluded], view);
}

export function hiddenBranchesIn(filters: readonly string[], view: View): string[] {
  const { stdout } = view.ask(['for-each-ref', '--format=%(refname)', ...filters, HEADS]);
  return stdout.split('\n').filter((ref) => view.isHidden(ref));
}

/** With one of these git rebases even if there is nothing to do. */
const FORCING = `exec autosquash force-rebase no-ff signoff ignore-date reset-author-date
  committer-date-is-author-date`.split(/\s+/);

/** Whether git would only say that the branch is up to date (can_fast_forward). */
export function isUpToDate(
  { upstream, onto, head }: RebasedRange,
  parsed: ParsedOptions,
  view: View,
): boolean {
  if (upstream === undefined || onto === undefined || hasOption(parsed, ...FORCING)) return false;
  if (!view.gitIsAtLeast(2, 44) && isConfigTrue(configValue(view, 'rebase.autosquash'))) return false;
  if (mergeBase(onto, head, view) !== onto || mergeBase(upstream, head, view) !== onto) return false;
  const fork = usesForkPoint(parsed, view) ? forkPoint(upstreamName(parsed), head, view) : undefined;
  if (fork !== undefined && fork !== onto) return false;
  return view.ask(['rev-list', '--min-parents=2', '--max-count=1', `${onto}..${head}`]).stdout === '';
}

function usesForkPoint(parsed: ParsedOptions, view: View): boolean {
  const option = lastOption(parsed, 'fork-point', 'no-fork-point')?.name;
  if (option !== undefined) return option === 'fork-point';
  if (parsed.args.length > 0 || hasOption(parsed, 'keep-base')) return false;
  const configured = configValue(view, 'rebase.forkpoint');
  return configured === undefined || isConfigTrue(configured);
}

function forkPoint(upstream: string, head: string, view: View): string | undefined {
  return onlyLine(view.ask(['merge-base', '--fork-point', upstream, head]).stdout);
}

function ontoCommit(name: string, view: View): string | undefined {
  const [left, right, ...others] = name.split('...');
  if (left === undefined || right === undefined || others.length > 0) return commitOf(name, view);
  return mergeBase(left || 'HEAD', right || 'HEAD', view);
}

function commitOf(name: string, view: View): string | undefined {
  return onlyLine(view.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]).stdout);
}

/** Undefined if there is none, or more than one. */
function mergeBase(left: string, right: string, view: View): string | undefined {
  return onlyLine(view.ask(['merge-base', '--all', left, right]).stdout);
}

function onlyLine(text: string): string | undefined {
  const [line, ...others] = text.split('\n').filter(Boolean);
  return others.length === 0 ? line : undefined;
}
