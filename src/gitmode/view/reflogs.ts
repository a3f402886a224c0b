/** The objects that the visible reflogs name, for `--reflog`: git applies no excludes to reflogs. */
import { join } from 'node:path';
import { readRegularFile } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { looseRefNames, subdirectories } from '../../git/files/ref-files.ts';
import type { View } from './view.ts';

/** Only those that exist: others were pruned. */
export function objectsOfVisibleReflogs(view: View): string[] {
  const names = [...new Set(visibleLogs(view).flatMap(objectsIn))].filter((name) => !/^0+$/.test(name));
  const { stdout } = view.ask(
    ['cat-file', '--batch-check=%(objectname)'],
    names.map((name) => `${name}\n`).join(''),
  );
  return stdout.split('\n').filter((line) => /^[0-9a-f]+$/.test(line));
}

/** Paths of the logs of refs, and of the HEAD of each worktree. */
function visibleLogs({ commonDir, hiddenWorktrees, isHidden }: View): string[] {
  const hidden = new Set(hiddenWorktrees);
  const linked = subdirectories(join(commonDir, 'worktrees')).filter((id) => !hidden.has(id));
  const gitDirs = linked.map((id) => join(commonDir, 'worktrees', id));
  const heads = hidden.has('') ? gitDirs : [commonDir, ...gitDirs];
  return [
    ...heads.map((gitDir) => join(gitDir, 'logs', 'HEAD')),
    ...[commonDir, ...gitDirs].flatMap((gitDir) =>
      looseRefNames(join(gitDir, 'logs'), 'refs')
        .filter((ref) => !isHidden(ref))
        .map((ref) => join(gitDir, 'logs', ref)),
    ),
  ];
}

/** A line begins with the old and the new object. */
function objectsIn(log: string): string[] {
  const text = attempt(() => readRegularFile(log).toString('latin1'));
  if (text === undefined) return [];
  return text
    .split('\n')
    .flatMap((line) => /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line)?.slice(1) ?? []);
}
