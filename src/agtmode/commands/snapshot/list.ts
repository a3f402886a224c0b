import { defineCommand } from '../../command-line/command.ts';
import { sessionDiff } from '../session/diff.ts';
import { sessionLog } from '../session/log.ts';
import { withoutSession } from './of-folder.ts';

const log = withoutSession(sessionLog);

export const snapshotList = defineCommand({
  ...log,
  usage: 'snapshot list',
  summary: 'list the snapshots of this folder',
  description:
    'List the snapshots of the folder or session that you are in, newest first, as agt session log does. With paths ' +
    'after --, list only snapshots that changed these paths.',
  examples: [['agt snapshot list --stat', 'list the snapshots and the files that each of them changed']],
});

const diff = withoutSession(sessionDiff);

export const snapshotDiff = defineCommand({
  ...diff,
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
