import { usageError } from '../../../errors.ts';
import { runGitOnTerminal } from '../../../git/run/run-on-terminal.ts';
import { namedSession, sessionOfFolder } from '../../../session/locate.ts';
import { findFile } from '../../../timetravel/cat.ts';
import { pathInSession } from '../../../timetravel/session-paths.ts';
import { defineCommand } from '../../command-line/command.ts';

export const sessionCat = defineCommand({
  usage: 'session cat <id> [file]',
  group: 'states',
  summary: 'print a file as it was at a snapshot',
  description:
    'agt session cat [ID] SNAPSHOT:PATH writes the bytes of the file to standard output; of a link, its target. The ' +
    'SNAPSHOT is a commit of the shadow branch, @{n} (n autocommits ago), a time, or a label. The PATH is relative to the ' +
    'sandbox; xdg/log or ../xdg/log is in another folder of the session.',
  positionals: {
    id: { type: 'string', demandOption: true, describe: 'the session; not needed in its folder' },
    file: { type: 'string', describe: 'SNAPSHOT:PATH' },
  },
  examples: [
    ['agt session cat fix-login @{2}:src/login.c', 'two autocommits ago'],
    ['agt session cat "10 minutes ago:src/login.c" > login.c.old', 'in the session of the current folder'],
  ],
  run: async (args, program) => {
    const [id, spec] = args.file === undefined ? [undefined, args.id] : [args.id, args.file];
    if (!spec.includes(':'))
      throw usageError(`'${spec}' is not a file of a snapshot`, 'agt session cat [ID] SNAPSHOT:PATH');
    const repository = await program.repository();
    const record = id === undefined ? sessionOfFolder(repository, program.cwd) : namedSession(repository, id);
    const oid = await findFile(repository, record, spec, program.now(), (path, ambiguous) =>
      pathInSession(record, path, program.cwd, ambiguous),
    );
    return runGitOnTerminal(repository.git, ['cat-file', 'blob', oid]);
  },
});
