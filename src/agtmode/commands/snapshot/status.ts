import { EXIT } from '../../../errors.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { readFolderStatus } from '../../output/folder-status.ts';
import { json } from '../../output/format.ts';
import { sessionIfAny } from '../../session-here.ts';

export const snapshotStatus = defineCommand({
  usage: 'snapshot status',
  group: 'snapshots',
  summary: 'show the last snapshot of this folder, and what has changed since',
  options: { json: JSON_OPTION },
  examples: [['agt snapshot status', 'see whether this folder has snapshots, and where agt keeps them']],
  run: async (args, context) => {
    const status = await readFolderStatus(context, await sessionIfAny(context));
    context.out(args.json ? json(status.json) : status.text);
    return EXIT.done;
  },
});
