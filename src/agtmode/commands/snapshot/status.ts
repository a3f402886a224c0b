import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { readFolderStatus } from '../../output/folder-status.ts';
import { sessionIfAny } from '../../session-here.ts';

export const snapshotStatus = defineCommand({
  usage: 'snapshot status',
  group: 'snapshots',
  summary: 'show the last snapshot of this folder, and what has changed since',
  options: { json: JSON_OPTION },
  examples: [['agt snapshot status', 'see whether this folder has snapshots, and where agt keeps them']],
  run: async (_, context) => readFolderStatus(context, await sessionIfAny(context)),
});
