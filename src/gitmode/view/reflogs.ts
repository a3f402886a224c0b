/** The reflogs of visible refs: git applies no excludes to reflogs. */
import { basename, join } from 'node:path';
import { readRegularFile } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { listRegistrations } from '../../git/files/discover-repository.ts';
import { looseRefNames } from '../../git/files/ref-files.ts';
import type { View } from './view.ts';

/** For `--reflog`: the objects that the visible reflogs name, and that exist; others were pruned. */
export function objectsOfVisibleReflogs(view: View): string[] {
  const { commonDir } = view;
  const linked = visibleRegistrations(view);
  const heads = view.hiddenWorktrees.includes('') ? linked : [commonDir, ...linked];
  const logs = [
    ...heads.map((gitDir) => join(gitDir, 'logs', 'HEAD')),
    ...[commonDir, ...linked].flatMap((gitDir) =>
      visibleLogs(gitDir, view).map((ref) => join(gitDir, 'logs', ref)),
    ),
  ];
  const names = [...new Set(logs.flatMap(objectsIn))].filter((name) => !/^0+$/.test(name));
  const { stdout } = view.ask(
    ['cat-file', '--batch-check=%(objectname)'],
    names.map((name) => `${name}\n`).join(''),
  );
  return stdout.split('\n').filter((line) => /^[0-9a-f]+$/.test(line));
}

/** The git directories of linked worktrees that are no sandboxes of others. */
export function visibleRegistrations({ commonDir, hiddenWorktrees }: View): string[] {
  return listRegistrations(commonDir).filter((gitDir) => !hiddenWorktrees.includes(basename(gitDir)));
}

/** The visible refs that have a log in a git directory; not its HEAD. */
export function visibleLogs(gitDir: string, { isHidden }: View): string[] {
  return looseRefNames(join(gitDir, 'logs'), 'refs').filter((ref) => !isHidden(ref));
}

/** A line begins with the old and the new object. */
function objectsIn(log: string): string[] {
  const text = attempt(() => readRegularFile(log).toString('latin1')) ?? '';
  return text
    .split('\n')
    .flatMap((line) => /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line)?.slice(1) ?? []);
}
