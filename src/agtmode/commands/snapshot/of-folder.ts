/** agt snapshot list, diff, status and restore: commands on sessions for the folder that the user is in, which needs no id. */
import { usageError } from '../../../errors.ts';
import { type Command, defineCommand, option } from '../../command-line/command.ts';
import { readFolderStatus } from '../../output/folder-status.ts';
import { sessionIfAny, withoutSnapshots } from '../../session-here.ts';
import { sessionDiff } from '../session/diff.ts';
import { sessionLog } from '../session/log.ts';
import { sessionRestore } from '../session/restore.ts';

/** Options that only sessions with a sandbox have. */
const OF_SANDBOXES = ['session', 'base', 'with', 'only'];

/** The same command without the session and what names one. */
function withoutSession({ positionals = {}, options = {}, ...command }: Command): Command {
  const { id: _, ...others } = positionals;
  const kept = Object.entries(options).filter(([name]) => !OF_SANDBOXES.includes(name));
  const defaults = Object.fromEntries(OF_SANDBOXES.map((name) => [name, options[name]?.default]));
  const run: Command['run'] = async (args, context) => {
    const here = await sessionIfAny(context);
    if (here === undefined) throw await withoutSnapshots(context);
    // A snapshot may be named as a session.
    return command.run({ ...defaults, ...args, id: here.id } as never, context);
  };
  return { ...command, positionals: others, options: Object.fromEntries(kept), run };
}

export const snapshotList = defineCommand({
  ...withoutSession(sessionLog),
  usage: 'snapshot list',
  summary: 'list the snapshots of this folder',
  description:
    'List the snapshots of the folder or session that you are in, newest first, as agt session log does. With paths ' +
    'after --, list only snapshots that changed these paths. The first one counts what differs ' +
    'from the commit that was checked out; without git, all files.',
  examples: [['agt snapshot list --stat', 'list the snapshots and the files that each of them changed']],
});

export const snapshotDiff = defineCommand({
  ...withoutSession(sessionDiff),
  usage: 'snapshot diff [a] [b]',
  summary: 'compare the snapshots of this folder with each other and with the files on disk',
  description:
    'Compare snapshot <a> with snapshot <b>, as agt session diff does. Without <b>, compare <a> with the files on disk; ' +
    'without both, compare the last snapshot with the files on disk.',
  examples: [
    ['agt snapshot diff', 'show what has changed since the last snapshot'],
    ['agt snapshot diff "10 minutes ago" --stat', 'show what has changed in the last ten minutes'],
  ],
});

export const snapshotStatus = defineCommand({
  usage: 'snapshot status',
  summary: 'show the last snapshot of this folder, and what has changed since',
  options: option.shared('json'),
  examples: [['agt snapshot status', 'see whether this folder has snapshots, and where agt keeps them']],
  run: async (_, context) => readFolderStatus(context, await sessionIfAny(context)),
});

const restore = withoutSession(sessionRestore);
const { to: _, ...options } = restore.options ?? {};

export const snapshotRestore = defineCommand({
  ...restore,
  usage: 'snapshot restore [snapshot]',
  summary: 'bring this folder back to a snapshot',
  description:
    'Take a snapshot, then bring the files of the folder back to an earlier one, as agt session restore does. Files that ' +
    'came later are deleted, if the snapshot before the restore holds them. agt undo takes the restore back. ' +
    'In a checkout, git goes back as well, as agt undo has it: branches, HEAD, index and stash; --files-only leaves them.',
  options: { ...options, to: option.value('the snapshot, in place of the argument') },
  examples: [
    ['agt snapshot restore @{2}', 'go back to the third newest snapshot'],
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
