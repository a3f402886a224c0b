import { findSession } from '../../../session/find-session.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { previewRestore } from '../../../timetravel/restore/preview.ts';
import { type RestoreRequest, restoreSession } from '../../../timetravel/restore/restore.ts';
import { findRedoTarget, findUndoTarget } from '../../../timetravel/restore/undo.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { printPreview, printRestored } from '../../output/restore.ts';
import type { Program } from '../../program.ts';

const options = { 'dry-run': DRY_RUN_OPTION, json: JSON_OPTION };

export const sessionUndo = defineCommand({
  usage: 'session undo [id]',
  group: 'states',
  summary: 'take back the last restore, or the last step',
  description:
    'Captures what is there and goes to the state before it; again goes one state further back. ' +
    'agt session redo goes forth again, until something new is done.',
  positionals: { id: SESSION_ID_OPTION },
  options,
  examples: [
    ['agt session undo', 'the session of the current folder'],
    ['agt session undo fix-login --dry-run', 'what would change'],
  ],
  run: (args, program) => move(program, args, 'undo'),
});

export const sessionRedo = defineCommand({
  usage: 'session redo [id]',
  group: 'states',
  summary: 'take back the last undo',
  positionals: { id: SESSION_ID_OPTION },
  options,
  examples: [['agt session redo', 'the session of the current folder']],
  run: (args, program) => move(program, args, 'redo'),
});

async function move(
  program: Program,
  args: { id: string | undefined; 'dry-run': boolean; json: boolean },
  by: 'undo' | 'redo',
): Promise<number> {
  const repository = await program.repository();
  const record = findSession(repository, args.id, program.cwd);
  const request: RestoreRequest = {
    scope: TOP_FOLDERS,
    by,
    now: program.now(),
    choose: (uncaptured) => (by === 'undo' ? findUndoTarget : findRedoTarget)(repository, record, uncaptured),
  };
  if (args['dry-run']) {
    printPreview(program, await previewRestore(repository, record, request), args.json);
    return 0;
  }
  return printRestored(program, await restoreSession(repository, record, request), args.json);
}
