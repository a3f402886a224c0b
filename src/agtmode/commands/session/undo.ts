import { EXIT } from '../../../errors.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { previewRestore } from '../../../timetravel/restore/preview.ts';
import type { RestoreRequest } from '../../../timetravel/restore/request.ts';
import { restoreSession } from '../../../timetravel/restore/restore.ts';
import {
  type Distance,
  findRedoTarget,
  findUndoTarget,
  readPosition,
} from '../../../timetravel/restore/undo.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, QUIET_OPTION } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import type { Context } from '../../context.ts';
import { interruptible } from '../../output/interrupted.ts';
import { printRestore, printRestorePreview } from '../../output/restore.ts';
import { sessionHere } from '../../session-here.ts';

const options = {
  session: SESSION_OPTION,
  turn: {
    type: 'boolean',
    default: false,
    describe:
      'a turn of the agent, from one prompt to the next, in place of a step; without any prompt, a step',
  },
  'dry-run': DRY_RUN_OPTION,
  quiet: QUIET_OPTION,
  json: JSON_OPTION,
} as const;

const elsewhere = { '--path': 'agt session restore --to SNAPSHOT --path PATH' };

export const sessionUndo = defineCommand({
  usage: 'session undo [id]',
  group: 'snapshots',
  summary: 'go back to the previous snapshot, or take back a restore',
  description:
    'Autocommit, then restore the snapshot before that. Repeat to go further back. agt session redo goes forward again, ' +
    'as long as nothing else changes the session. As a prompt of an agent, agt undo takes a turn back, as --turn does.',
  positionals: { id: SESSION_ARGUMENT },
  options,
  elsewhere,
  examples: [
    ['agt session undo', 'go back one snapshot in the session of the current directory'],
    ['agt session undo --turn', 'take back everything since the last prompt that changed something'],
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
  elsewhere,
  examples: [['agt session redo', 'go forward again in the session of the current directory']],
  run: (args, context) => move(context, args, 'redo'),
});

async function move(
  context: Context,
  args: {
    id: string | undefined;
    session: string | undefined;
    turn: boolean;
    'dry-run': boolean;
    json: boolean;
  },
  by: 'undo' | 'redo',
): Promise<number> {
  const { repository, record } = await sessionHere(context, givenSession(args));
  const findTarget = by === 'undo' ? findUndoTarget : findRedoTarget;
  const distance: Distance = args.turn ? 'turn' : 'step';
  const request: RestoreRequest = {
    scope: TOP_FOLDERS,
    by,
    now: context.now(),
    choose: (uncaptured) => findTarget(repository, record, uncaptured, distance),
  };
  if (args['dry-run']) {
    printRestorePreview(context, await previewRestore(repository, record, request), args.json);
    return EXIT.done;
  }
  const restored = await interruptible(context, repository, record, () =>
    restoreSession(repository, record, request),
  );
  const position = await readPosition(repository, restored.record, by);
  return printRestore(context, restored, args.json, { by, distance, position });
}
