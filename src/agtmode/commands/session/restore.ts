import { findSession } from '../../../session/find-session.ts';
import { snapshotRefs } from '../../../session/record.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { resolveSnapshot } from '../../../snapshot/resolve-snapshot.ts';
import { previewRestore } from '../../../timetravel/restore/preview.ts';
import { restoreSession } from '../../../timetravel/restore/restore.ts';
import { pathInSession, readAmbiguousFolders } from '../../../timetravel/session-paths.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { printPreview, printRestored } from '../../output/restore.ts';

export const sessionRestore = defineCommand({
  usage: 'session restore [id]',
  group: 'states',
  summary: 'bring a session back to a captured state',
  description:
    'What is there is captured first; then only what differs is written, and index, HEAD, work branch, permissions and ' +
    'empty directories are as they were. What was never captured stays. The folder is captured again and compared with ' +
    'the state. Works too when the folder is gone or the session was removed.',
  positionals: { id: SESSION_ID_OPTION },
  options: {
    to: {
      type: 'string',
      demandOption: true,
      describe: 'the state: a commit of the shadow branch, @{n} (n autocommits ago), a time, or a label',
    },
    path: { type: 'string', array: true, describe: 'only this file or directory, relative to the sandbox' },
    only: { type: 'string', choices: [...TOP_FOLDERS], describe: 'only this folder of the session' },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt session restore --to "10 minutes ago"', 'the session of the current folder'],
    ['agt session restore fix-login --to @{3} --path src/login.ts', 'one file'],
    ['agt session restore fix-login --to "tests pass" --dry-run', 'what would change'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const record = findSession(repository, args.id, program.cwd);
    const now = program.now();
    const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), args.to, now);
    const ambiguous = await readAmbiguousFolders(repository.git, [snapshot.commit]);
    const paths = (args.path ?? []).map((path) => pathInSession(record, path, program.cwd, ambiguous));
    const tops = args.only === undefined ? TOP_FOLDERS : [args.only];
    const request = {
      scope: paths.length > 0 ? paths : tops,
      by: 'restore' as const,
      now,
      choose: async () => snapshot,
    };
    if (args['dry-run']) {
      printPreview(program, await previewRestore(repository, record, request), args.json);
      return 0;
    }
    return printRestored(program, await restoreSession(repository, record, request), args.json);
  },
});
