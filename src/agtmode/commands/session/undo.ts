import { EXIT } from '../../../errors.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { previewRestore } from '../../../timetravel/restore/preview.ts';
import type { RestoreRequest } from '../../../timetravel/restore/request.ts';
import { restoreSession } from '../../../timetravel/restore/restore.ts';
import { findRedoTarget, findUndoTarget, readPosition } from '../../../timetravel/restore/undo.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, QUIET_OPTION } from '../../command-line/command.ts';
import {
  givenSession,
  OLD_SESSION_OPTIONS,
  SESSION_ARGUMENT,
  SESSION_OPTION,
} from '../../command-line/session-argument.ts';
import type { Context } from '../../context.ts';
import { interruptible } from '../../output/interrupted.ts';
import { printRestore, printRestorePreview } from '../../output/restore.ts';
import { sessionHere } from '../../session-here.ts';

const options = {
  session: SESSION_OPTION,
  'dry-run': DRY_RUN_OPTION,
  quiet: QUIET_OPTION,
  json: JSON_OPTION,
};

const elsewhere = { '--path': 'agt session restore --to SNAPSHOT --path PATH' };

export const sessionUndo = defineCommand({
  usage: 'session undo [id]',
  group: 'snapshots',
  summary: 'go back to the previous snapshot, or take back a restore',
  description:
    'Autocommit, then restore the snapshot before that. Repeat to go further back. agt session redo goes forward again, ' +
    'as long as nothing else changes the session.',
  positionals: { id: SESSION_ARGUMENT },
  options,
  oldOptions: OLD_SESSION_OPTIONS,
  elsewhere,
  examples: [
    ['agt session undo', 'go back one snapshot in the session of the current directory'],
    ['agt session undo fix-login --dry-run', 'show what would change'],
  ],
  run: (args, context) => move(context, args, 'undo'),
});

export const sessionRedo = defineCommand({
  usage: 'session redo [id]',
  group: 'snapshots',
  summary: 'take back the last agt session undo',
  positionals: { id: SESSION_ARGUMENT },
  options,
  oldOptions: OLD_SESSION_OPTIONS,
  elsewhere,
  examples: [['agt session redo', 'go forward again in the session of the current directory']],
  run: (args, context) => move(context, args, 'redo'),
});

async function move(
  context: Context,
  args: { id: string | undefined; session: string | undefined; 'dry-run': boolean; json: boolean },
  by: 'undo' | 'redo',
): Promise<number> {
  const { repository, record } = await sessionHere(context, givenSession(args));
  const findTarget = by === 'undo' ? findUndoTarget : findRedoTarget;
  const request: RestoreRequest = {
    scope: TOP_FOLDERS,
    by,
    now: context.now(),
    choose: (uncaptured) => findTarget(repository, record, uncaptured),
  };
  if (args['dry-run']) {
    printRestorePreview(context, await previewRestore(repository, record, request), args.json);
    return EXIT.done;
  }
  const restored = await interruptible(context, repository, record, () =>
    restoreSession(repository, record, request),
  );
  const position = await readPosition(repository, restored.record);
  return printRestore(context, restored, args.json, { by, position });
}
