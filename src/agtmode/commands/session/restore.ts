import { usageError } from '../../../errors.ts';
import { snapshotRefs } from '../../../session/record.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { resolveSnapshot } from '../../../snapshot/resolve-snapshot.ts';
import { requireKnownPaths } from '../../../timetravel/restore/known-paths.ts';
import { previewRestore } from '../../../timetravel/restore/preview.ts';
import { restoreSession } from '../../../timetravel/restore/restore.ts';
import { pathInSession, readAmbiguousFolders } from '../../../timetravel/session-paths.ts';
import { DRY_RUN_QUIET_JSON, many, required, SNAPSHOT_FORMS } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { interruptible } from '../../output/interrupted.ts';
import { reportPreview, reportRestore } from '../../output/restore.ts';

export const sessionRestore = defineSessionCommand({
  name: 'session restore',
  alsoFolders: true,
  group: 'snapshots',
  summary: 'restore a session to a snapshot',
  description:
    'Restore files, permissions, empty directories, index, HEAD and work branch of a session to a snapshot. Autocommit ' +
    'first, so that agt session undo can take the restore back. Write only files that differ, then check the result ' +
    'against the snapshot. Files that agt never captured stay as they are. A removed session, or one without its ' +
    'folder, can be restored as well.',
  options: {
    to: required(`restore this snapshot: ${SNAPSHOT_FORMS}`),
    path: many('restore only this file or directory, relative to the sandbox'),
    only: { type: 'string', choices: [...TOP_FOLDERS], describe: 'restore only this folder of the session' },
    ...DRY_RUN_QUIET_JSON,
  },
  examples: [
    ['agt session restore --to "10 minutes ago"', 'restore the session of the current directory'],
    ['agt session restore fix-login --to @{3} --path src/login.ts', 'restore one file'],
    ['agt session restore fix-login --to "tests pass" --dry-run', 'show what would change'],
  ],
  check: (args) => {
    // It would be the current directory, and a script with an unset variable would restore everything.
    if (args.path?.includes('') === true)
      throw usageError('--path is empty', 'give a path, or leave it out to restore everything');
    if (args.path !== undefined && args.only !== undefined)
      throw usageError('--path and --only exclude each other', 'a path may begin with xdg/ or config/');
  },
  run: async (args, context, session) => {
    const { repository, record } = session;
    const now = context.now();
    const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), args.to, now);
    const namesakes = await readAmbiguousFolders(repository.git, [snapshot.commit]);
    const paths = (args.path ?? []).map((path) => pathInSession(record, path, context.cwd, namesakes));
    await requireKnownPaths(repository.git, record, snapshot, paths);
    const folders = args.only === undefined ? TOP_FOLDERS : [args.only];
    const request = {
      scope: paths.length > 0 ? paths : folders,
      by: 'restore' as const,
      now,
      choose: async () => snapshot,
    };
    if (args['dry-run']) return reportPreview(await previewRestore(session, request));
    return reportRestore(context, await interruptible(context, session, restoreSession, request));
  },
});
