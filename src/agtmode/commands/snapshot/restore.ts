import { usageError } from '../../../errors.ts';
import { defineCommand, SNAPSHOT_FORMS, withValue } from '../../command-line/command.ts';
import { sessionRestore } from '../session/restore.ts';
import { withoutSession } from './of-folder.ts';

const restore = withoutSession(sessionRestore);
const { to: _, ...options } = restore.options ?? {};

export const snapshotRestore = defineCommand({
  ...restore,
  usage: 'snapshot restore [snapshot]',
  summary: 'bring this folder back to a snapshot',
  description:
    'Take a snapshot, then bring the files of the folder back to an earlier one, as agt session restore does. Files that ' +
    'came later are deleted, if the snapshot before the restore holds them. agt undo takes the restore back. ' +
    'Branches, index and HEAD of git stay as they are.',
  positionals: { snapshot: withValue(`the snapshot: ${SNAPSHOT_FORMS}`) },
  options: { ...options, to: withValue('the snapshot, in place of the argument') },
  examples: [
    ['agt snapshot restore @{2}', 'go back to the snapshot before the one before'],
    ['agt snapshot restore "10 minutes ago" --path src -n', 'show what would change in src'],
  ],
  run: async (args, context) => {
    const { snapshot, to = snapshot } = args as { snapshot?: string; to?: string };
    if (to === undefined || (snapshot !== undefined && snapshot !== to))
      throw usageError(
        to === undefined ? 'no snapshot given' : `two snapshots are given: "${snapshot}" and "${to}"`,
        'give one, such as @{1}; see: agt snapshot list',
      );
    return restore.run({ ...args, to } as never, context);
  },
});
