/** The remote that git takes when the user names none; undefined when git would find none and say so. */
import { HEADS } from '../../git/files/ref-files.ts';
import { configValue, type View } from '../view/view.ts';

export function defaultPushRemote(view: View): string | undefined {
  const branch = currentBranch(view);
  const ofBranch = (key: string) =>
    branch === undefined ? undefined : configValue(view, `branch.${branch}.${key}`);
  const configured = ofBranch('pushremote') ?? configValue(view, 'remote.pushdefault') ?? ofBranch('remote');
  if (configured !== undefined) return configured;
  const [only, ...others] = view.remotes();
  if (only !== undefined && others.length === 0 && view.gitIsAtLeast(2, 42)) return only;
  return view.remotes().includes('origin') ? 'origin' : undefined;
}

/** Its short name; undefined for a detached HEAD. */
export function currentBranch(view: View): string | undefined {
  const { exitCode, stdout } = view.ask(['symbolic-ref', '-q', 'HEAD']);
  const ref = exitCode === 0 ? stdout.trim() : undefined;
  return ref?.startsWith(HEADS) ? ref.slice(HEADS.length) : undefined;
}
