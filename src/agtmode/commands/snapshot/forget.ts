import { resolve } from 'node:path';
import { realPath } from '../../../disk/real-path.ts';
import { stateHome } from '../../../disk/state-home.ts';
import { AgtError } from '../../../errors.ts';
import { forgetFolder, openStore, storeName } from '../../../folders/store.ts';
import { folderStore } from '../../../layout.ts';
import { snapshotRefs } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { readHistory } from '../../../snapshot/history.ts';
import { defineCommand, flag, shared, withValue } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { plural, showPath, verb } from '../../output/format.ts';
import { attachedHere, sessionIfAny } from '../../session-here.ts';

export const snapshotForget = defineCommand({
  usage: 'snapshot forget [folder]',
  group: 'snapshots',
  summary: 'delete all snapshots of a folder',
  description:
    'Delete the store of a folder with all of its snapshots. The files of the folder stay as they are, and nothing ' +
    'brings the snapshots back. The folder may be gone. If hooks of an agent take snapshots there, they begin anew.',
  positionals: { folder: withValue('folder (default: the one that you are in)') },
  options: {
    force: flag('delete them; without it, agt only says how many there are'),
    ...shared('dry-run', 'json'),
  },
  examples: [
    ['agt snapshot forget -n', 'show how many snapshots of this folder would go'],
    ['agt snapshot forget ~/notes --force', 'delete the snapshots of a folder'],
  ],
  run: async (args, context) => {
    const attached = args.folder === undefined ? await attachedOrRefuse(context) : find(context, args.folder);
    const { repository, record } = attached;
    const folder = record.checkout ?? record.sandbox;
    const { length } = await readHistory(repository.git, snapshotRefs(record));
    const snapshots = plural(length, 'snapshot');
    if (!args.force && !args.dryRun) {
      throw new AgtError(`${snapshots} of ${showPath(folder)} would go, and nothing brings them back`, {
        hints: ['to look at them: agt snapshot list', 'to delete them: add --force'],
      });
    }
    if (!args.dryRun) await forgetFolder(context.folderAccess(), attached);
    return {
      json: { folder, store: repository.commonDir, snapshots: length, deleted: !args.dryRun },
      text: `${verb(args.dryRun, 'deleted', 'delete')} ${snapshots} of ${showPath(folder)}\n`,
    };
  },
});

/** The store that has the name of this path, and no other that agt may take for it. */
function find(context: Context, given: string): Session {
  const access = context.folderAccess();
  const folder = realPath(resolve(context.cwd, given));
  const state = stateHome(access.env);
  const found = state && openStore(access, folderStore(state, storeName(folder)), undefined);
  if (!found) throw noSnapshots(folder);
  return found;
}

async function attachedOrRefuse(context: Context): Promise<Session> {
  const session = await sessionIfAny(context);
  const attached = await attachedHere(context);
  if (attached !== undefined && attached.record.sandbox === session?.record.sandbox) return attached;
  if (session === undefined) throw noSnapshots(context.cwd);
  const id = session.record.session_id;
  throw new AgtError(`you are in the session "${id}", which agt snapshot forget does not delete`, {
    hints: [`agt session remove ${id}`],
  });
}

function noSnapshots(folder: string): AgtError {
  return new AgtError(`there are no snapshots of ${showPath(folder)}`, {
    hints: ['the folders that have some: agt du --folders'],
  });
}
