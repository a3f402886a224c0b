import type { Session } from '../../../session/session.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { previewRestore } from '../../../timetravel/restore/preview.ts';
import { restoreSession } from '../../../timetravel/restore/restore.ts';
import {
  type Distance,
  findRedoTarget,
  findUndoTarget,
  readPosition,
} from '../../../timetravel/restore/undo.ts';
import type { RestoreRequest } from '../../../timetravel/restore/unfinished-restore.ts';
import { DRY_RUN_QUIET_JSON, flag, type Report } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import type { Context } from '../../context.ts';
import { interruptible } from '../../output/interrupted.ts';
import { reportPreview, reportRestore } from '../../output/restore.ts';

const options = {
  turn: flag(
    'a turn of the agent, from one prompt to the next, in place of a step; without any prompt, a step',
  ),
  ...DRY_RUN_QUIET_JSON,
} as const;

const elsewhere = { '--path': 'agt session restore --to SNAPSHOT --path PATH' };

export const sessionUndo = defineSessionCommand({
  name: 'session undo',
  alsoFolders: true,
  group: 'snapshots',
  summary: 'go back to the previous snapshot, or take back a restore',
  description:
    'Autocommit, then restore the snapshot before that. Repeat to go further back. agt session redo goes forward again, ' +
    'as long as nothing else changes the session. As a prompt of an agent, agt undo takes a turn back, as --turn does.',
  options,
  elsewhere,
  examples: [
    ['agt session undo', 'go back one snapshot in the session of the current directory'],
    ['agt session undo --turn', 'take back everything since the last prompt that changed something'],
    ['agt session undo fix-login --dry-run', 'show what would change'],
  ],
  run: (args, context, session) => move(context, session, args, 'undo'),
});

export const sessionRedo = defineSessionCommand({
  name: 'session redo',
  alsoFolders: true,
  group: 'snapshots',
  summary: 'take back the last agt session undo',
  options,
  elsewhere,
  examples: [['agt session redo', 'go forward again in the session of the current directory']],
  run: (args, context, session) => move(context, session, args, 'redo'),
});

async function move(
  context: Context,
  session: Session,
  args: { readonly turn: boolean; readonly 'dry-run': boolean },
  by: 'undo' | 'redo',
): Promise<Report> {
  const findTarget = by === 'undo' ? findUndoTarget : findRedoTarget;
  const distance: Distance = args.turn ? 'turn' : 'step';
  const request: RestoreRequest = {
    scope: TOP_FOLDERS,
    by,
    now: context.now(),
    choose: (uncaptured) => findTarget(session, uncaptured, distance),
  };
  if (args['dry-run']) return reportPreview(await previewRestore(session, request));
  const restored = await interruptible(context, session, restoreSession, request);
  const position = await readPosition(session.with(restored.record), by);
  return reportRestore(context, restored, { by, distance, position });
}
