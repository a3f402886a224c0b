import { newSession } from '../../../session/lifecycle/new.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { printCreated } from '../../output/session.ts';

export const sessionNew = defineCommand({
  usage: 'session new',
  group: 'sessions',
  summary: 'make a session: a sandbox, a work branch, a shadow branch',
  description:
    'The sandbox is a git worktree on the work branch agt/<id>, where the agent edits and commits; autocommits go to ' +
    'the shadow branch agtsessions/<id>. Files that .worktreeinclude names and git ignores are copied into it.',
  options: {
    id: { type: 'string', describe: 'its id; by default sess-<date>-<time>-<xxxx>' },
    from: { type: 'string', describe: 'a session, branch or commit to start from; by default HEAD' },
    profile: { type: 'string', describe: 'a name kept with the session, for harnesses' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session new --id fix-login', 'from the branch that is checked out'],
    ['agt session new --from v2.1', 'from a tag, with a generated id'],
    ['cd "$(agt session path fix-login)"', 'go to its sandbox'],
  ],
  run: async (args, program) => {
    await program.git(); // tried, and new enough
    const repository = await program.repository();
    const { record, included } = await newSession(repository, {
      id: args.id,
      from: args.from,
      profile: args.profile,
      cwd: program.cwd,
      now: program.now(),
      showProgress: program.interactive && !args.json,
    });
    printCreated(program, record, args.json, included.length > 0 ? [`copied   ${included.join(', ')}`] : []);
    return 0;
  },
});
