import { shortBranch } from '../../../git/files/refnames.ts';
import { viewSession } from '../../../session/inspect.ts';
import { findSession } from '../../../session/locate.ts';
import { defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { json, plural, table } from '../../output/format.ts';
import { lastAutocommitText, sessionJson } from '../../output/session.ts';

export const sessionShow = defineCommand({
  usage: 'session show [id]',
  group: 'sessions',
  summary: 'show one session: paths, branches and last autocommit',
  positionals: { id: SESSION_ID_OPTION },
  options: { json: JSON_OPTION },
  examples: [['agt session show fix-login', 'show everything about one session']],
  run: async (args, context) => {
    const repository = await context.repository();
    const view = await viewSession(repository, findSession(repository, args.id, context.cwd));
    if (args.json) {
      context.out(json(sessionJson(view)));
      return 0;
    }
    const { record } = view;
    const rows: [string, string][] = [
      ['session', record.session_id],
      ['state', record.state],
      ['folder', view.folder],
      ['sandbox', view.sandboxPresent ? record.sandbox : `${record.sandbox} (missing)`],
      [
        'work branch',
        `${shortBranch(record.work_branch)}${view.headCommit ? ` at ${view.headCommit.slice(0, 10)}` : ''}`,
      ],
      ['shadow branch', `${shortBranch(record.branch)}, ${plural(view.autocommits, 'autocommit')}`],
      ['last autocommit', lastAutocommitText(view, context.now())],
      [
        'user branch',
        record.user_branch === undefined ? 'none (started from a commit)' : shortBranch(record.user_branch),
      ],
      [
        'start commit',
        `${record.from_commit.slice(0, 10)}${record.from === undefined ? '' : ` from session ${record.from}`}`,
      ],
      ['created', record.created_at],
    ];
    if (record.profile !== undefined) rows.push(['profile', record.profile]);
    context.out(table(rows));
    return 0;
  },
});
