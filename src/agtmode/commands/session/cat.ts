import { usageError } from '../../../errors.ts';
import { runGitOnTerminal } from '../../../git/run/git.ts';
import { findFile } from '../../../timetravel/cat.ts';
import { pathInSession, pathToWrite } from '../../../timetravel/session-paths.ts';
import { defineCommand, required, SNAPSHOT_FORMS, withValue } from '../../command-line/command.ts';
import { givenSession, SESSION_OPTION } from '../../command-line/session-command.ts';
import { sessionHere } from '../../session-here.ts';

export const sessionCat = defineCommand({
  usage: 'session cat <id> [file]',
  group: 'snapshots',
  summary: 'print a file of a snapshot',
  description:
    'Print the content of a file, or the target of a symbolic link. Write <file> as <snapshot>:<path>. The snapshot is ' +
    `${SNAPSHOT_FORMS}. The path is relative to the sandbox; xdg/log (or ../xdg/log) is in another folder of the ` +
    'session. Inside a session folder, leave out <id>.',
  positionals: {
    id: required('session id (not needed inside a session folder)'),
    file: withValue('<snapshot>:<path>'),
  },
  options: { session: SESSION_OPTION },
  examples: [
    ['agt session cat fix-login @{2}:src/login.c', 'print a file as it was two autocommits ago'],
    ['agt session cat "10 minutes ago:src/login.c" > login.c.old', 'save the version of ten minutes ago'],
  ],
  run: async (args, context) => {
    const [id, spec] = args.file === undefined ? [undefined, args.id] : [args.id, args.file];
    const given = givenSession({ id, session: args.session });
    if (!spec.includes(':'))
      throw usageError(`no snapshot given in "${spec}"`, 'usage: agt session cat [<id>] <snapshot>:<path>');
    const session = await sessionHere(context, given);
    const oid = await findFile(session, spec, context.now(), {
      inSession: (path, namesakes) => pathInSession(session.record, path, context.cwd, namesakes),
      toWrite: (path, namesakes) => pathToWrite(session.record, path, context.cwd, namesakes),
    });
    return runGitOnTerminal(session.git, ['cat-file', 'blob', oid]);
  },
});
