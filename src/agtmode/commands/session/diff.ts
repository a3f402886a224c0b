import { displayPath } from '../../../disk/path-bytes.ts';
import { EXIT, usageError } from '../../../errors.ts';
import type { DiffEntry } from '../../../git/objects/raw-diff.ts';
import type { Repository } from '../../../repository/repository.ts';
import { namedSession, sessionContaining, sessionOfFolder } from '../../../session/find-session.ts';
import { idProblem, type SessionId } from '../../../session/id.ts';
import { readRecord, type SessionRecord, snapshotRefs } from '../../../session/record.ts';
import { readHistory } from '../../../snapshot/history.ts';
import { findSnapshot } from '../../../snapshot/resolve-snapshot.ts';
import { type DiffEnd, type DiffRequest, listDiff, showDiff } from '../../../timetravel/diff/diff.ts';
import type { MetadataDiff } from '../../../timetravel/diff/metadata-diff.ts';
import { parsePathspec } from '../../../timetravel/pathspec.ts';
import {
  type AmbiguousFolders,
  pathInSession,
  relativeToSandbox,
} from '../../../timetravel/session-paths.ts';
import { defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { wordsAfterDashes } from '../../command-line/words-after-dashes.ts';
import { json, showPath } from '../../output/print.ts';
import type { Program } from '../../program.ts';

export const sessionDiff = defineCommand({
  usage: 'session diff [id] [a] [b]',
  group: 'states',
  summary: 'what changed between two snapshots, or between a snapshot and now',
  description:
    'Compares snapshot A with snapshot B; without B with what is on disk now; without both, the last autocommit with what ' +
    'is on disk. git prints it, with its colours, pager and settings. Permissions and empty directories, of which git ' +
    'knows nothing, are told after that. What cannot be read is named, and the exit code is then 1. Paths after -- are relative to the sandbox; xdg/log or ../xdg/log is in another ' +
    'folder of the session. Nothing is captured, and nothing is changed.',
  positionals: {
    id: SESSION_ID_OPTION,
    a: {
      type: 'string',
      describe: 'a commit of the shadow branch, @{n} (n autocommits ago), a time, or a label',
    },
    b: { type: 'string', describe: 'another one' },
  },
  options: {
    stat: { type: 'boolean', default: false, describe: 'how many lines changed in each file' },
    'name-status': {
      type: 'boolean',
      default: false,
      describe: 'the names of what was added, changed, deleted',
    },
    'name-only': { type: 'boolean', default: false, describe: 'the names alone' },
    'exit-code': { type: 'boolean', default: false, describe: 'exit with 1 where there are differences' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session diff', 'since the last autocommit'],
    ['agt session diff fix-login "tests pass" --stat', 'since the snapshot of that label'],
    ['agt session diff fix-login @{3} @{1} -- src', 'between two snapshots, in src'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const words = [args.id, args.a, args.b].filter((word) => word !== undefined);
    const { record, snapshots } = whichSession(repository, words, program.cwd);
    const request = {
      ...(await whichPoints(repository, record, snapshots, program.now())),
      pathspecs: (ambiguous: AmbiguousFolders) => {
        const inFolder = (path: string) => pathInSession(record, path, program.cwd, ambiguous);
        return wordsAfterDashes(args).map((spec) => parsePathspec(spec, inFolder));
      },
      now: program.now(),
    };
    if (args.json) return printList(program, repository, record, request, args['exit-code']);
    const names = (['stat', 'name-status', 'name-only', 'exit-code'] as const).filter((name) => args[name]);
    const options = names.map((name) => `--${name}`);
    const { exitCode, metadata, ambiguous, uncompared } = await showDiff(
      repository,
      record,
      request,
      options,
    );
    for (const difference of metadata) {
      if (args['name-status'] || args['name-only'])
        program.out(nameLine(difference, ambiguous, args['name-status']));
      else program.err(`note: ${sentence(difference, ambiguous)}\n`);
    }
    for (const { path, reason } of uncompared)
      program.err(`warning: not compared: ${showPath(path)}: ${reason}\n`);
    const differs = args['exit-code'] && metadata.length > 0;
    return exitCode === 0 && (differs || uncompared.length > 0) ? EXIT.failed : exitCode;
  },
});

/** The first word is a session where there is one of that name, and else a snapshot of the current folder's session. */
function whichSession(
  repository: Repository,
  words: readonly string[],
  cwd: string,
): { record: SessionRecord; snapshots: readonly string[] } {
  const [first, ...rest] = words;
  if (first === undefined) return { record: sessionOfFolder(repository, cwd), snapshots: [] };
  const named = idProblem(first) === undefined ? readRecord(repository, first as SessionId) : undefined;
  if (named !== undefined) return { record: named, snapshots: rest };
  const here = sessionContaining(repository, cwd);
  if (here === undefined) return { record: namedSession(repository, first), snapshots: rest };
  if (words.length > 2) throw usageError(`'${first}' is no session`, 'agt session diff [ID] [A] [B]');
  return { record: here, snapshots: words };
}

async function whichPoints(
  repository: Repository,
  record: SessionRecord,
  snapshots: readonly string[],
  now: Date,
): Promise<{ before: DiffEnd; after: DiffEnd }> {
  const history = await readHistory(repository.git, snapshotRefs(record));
  const [a, b] = snapshots;
  if (a === undefined) return { before: history[0] ?? 'start', after: 'disk' };
  const find = (spec: string) => findSnapshot(repository.git, snapshotRefs(record), history, spec, now);
  return { before: await find(a), after: b === undefined ? 'disk' : await find(b) };
}

async function printList(
  program: Program,
  repository: Repository,
  record: SessionRecord,
  request: DiffRequest,
  asExitCode: boolean,
): Promise<number> {
  const { entries, metadata, ambiguous, uncompared } = await listDiff(repository, record, request);
  const shown = (path: string) => displayPath(relativeToSandbox(path, ambiguous));
  const mode = (file: { readonly mode: string } | undefined) => file?.mode ?? null;
  const list = [
    ...entries.map((entry) => ({
      path: shown(entry.path),
      status: statusOf(entry),
      old_mode: mode(entry.before),
      new_mode: mode(entry.after),
    })),
    ...metadata.map(({ path, status, before, after }) => ({
      path: shown(path),
      status,
      old_permissions: before ?? null,
      new_permissions: after ?? null,
    })),
  ];
  program.out(json(list));
  for (const { path, reason } of uncompared)
    program.err(`warning: not compared: ${showPath(path)}: ${reason}\n`);
  return (asExitCode && list.length > 0) || uncompared.length > 0 ? EXIT.failed : EXIT.done;
}

function statusOf({ before, after }: DiffEntry): 'A' | 'D' | 'M' {
  return before === undefined ? 'A' : after === undefined ? 'D' : 'M';
}

function nameLine({ path, status }: MetadataDiff, ambiguous: AmbiguousFolders, withStatus: boolean): string {
  const shown = showPath(displayPath(relativeToSandbox(path, ambiguous)));
  return withStatus ? `${status}\t${shown}\n` : `${shown}\n`;
}

function sentence({ path, status, before, after }: MetadataDiff, ambiguous: AmbiguousFolders): string {
  const shown = showPath(displayPath(relativeToSandbox(path, ambiguous)));
  if (status === 'M') return `permissions of ${shown}: ${before} before, ${after} after`;
  return status === 'A' ? `empty directory added: ${shown}` : `empty directory deleted: ${shown}`;
}
