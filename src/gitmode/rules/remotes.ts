/**
 * What git would take for "the remote": the current branch's, the only one, or origin; undefined where it would find
 * none and say so.
 */
import { HEADS } from '../../git/files/refnames.ts';
import { lastConfig, type View } from '../view/view.ts';

export function defaultRemote(view: View, direction: 'push' | 'fetch'): string | undefined {
  const branch = checkedOut(view);
  const chosen =
    direction === 'push'
      ? ((branch === undefined ? undefined : lastConfig(view, `branch.${branch}.pushremote`)) ??
        lastConfig(view, 'remote.pushdefault'))
      : undefined;
  const own = chosen ?? (branch === undefined ? undefined : lastConfig(view, `branch.${branch}.remote`));
  if (own !== undefined) return own;
  const [only, ...others] = view.remotes();
  if (only !== undefined && others.length === 0 && view.gitIsAtLeast(2, 42)) return only;
  return view.remotes().includes('origin') ? 'origin' : undefined;
}

/** Short name of the branch that HEAD names. */
function checkedOut(view: View): string | undefined {
  const { exitCode, stdout } = view.ask(['symbolic-ref', '-q', 'HEAD']);
  const ref = exitCode === 0 ? stdout.trim() : undefined;
  return ref?.startsWith(HEADS) ? ref.slice(HEADS.length) : undefined;
}
