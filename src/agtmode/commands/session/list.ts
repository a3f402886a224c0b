/** agt session list and show. */
import { existsSync } from 'node:fs';
import { plural, usageError } from '../../../errors.ts';
import { REVIEWS, reviewRef } from '../../../filter/agent-refs.ts';
import { isActive } from '../../../filter/session-file.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { isPartialClone } from '../../../git/objects/object-store.ts';
import { gitAnswer, gitLines, resolveObject } from '../../../git/run/git.ts';
import { localTime } from '../../../local-time.ts';
import type { Repository } from '../../../repository/repository.ts';
import { listHunks } from '../../../review/review.ts';
import { AGENT_STATES } from '../../../session/agent-state.ts';
import { namedSession } from '../../../session/find-session.ts';
import { idProblem } from '../../../session/id.ts';
import { placeOfAway } from '../../../session/operation.ts';
import { listRecords, type SessionRecord } from '../../../session/record.ts';
import { Session } from '../../../session/session.ts';
import { sharedStashEntries, stashEntries } from '../../../session/stash.ts';
import { isEnded, SESSION_STATES } from '../../../session/state.ts';
import { readSnapshotMetadata } from '../../../snapshot/manifest.ts';
import { readPulse } from '../../../survey/pulse.ts';
import { readSessionStatus, type SessionStatus, surveySessions } from '../../../survey/status.ts';
import { isRemote } from '../../../travel/remote.ts';
import { isThere, listMoments, type Moment } from '../../../workspace/moments.ts';
import { defineCommand, defineSessionCommand, option } from '../../command-line/command.ts';
import { type Answer, partOf, reportEach } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { everywhere } from '../../everywhere.ts';
import { age, showPath, table } from '../../output/format.ts';
import { noSessions, nothingNote, withNote } from '../../output/no-sessions.ts';
import { currentBranch, landedPlace, leftOutRows, sessionJson, shownState } from '../../output/session.ts';
import { movedNote, outOfSightNote, rowsOfNow, sessionTable } from '../../output/session-table.ts';
import { listFolders } from './list-folders.ts';
import { listRemote } from './list-remote.ts';
import { watchList } from './list-watch.ts';

/** By what a person can sort. */
const VALUES: Readonly<Record<string, (view: SessionStatus) => string | number>> = {
  age: ({ record }) => -Date.parse(record.created_at),
  id: ({ record }) => record.session_id,
  state: shownState,
  now: ({ agentState }) =>
    agentState === undefined ? AGENT_STATES.length : AGENT_STATES.indexOf(agentState.state),
  commits: ({ ahead }) => ahead ?? -1,
  dirty: ({ dirty }) => dirty ?? -1,
  behind: ({ behind }) => behind ?? -1,
  autocommit: ({ lastAutocommit }) => lastAutocommit?.time.getTime() ?? 0,
};
const SORT_KEYS = Object.keys(VALUES).join(', ');

/** No metadata say these: `running`, and those of NOW. */
const STATES_OF_NOW: readonly string[] = ['running', ...AGENT_STATES];
const STATES: readonly string[] = [...new Set([...SESSION_STATES, ...STATES_OF_NOW])];
const OF_MERGE: readonly string[] = ['clean', 'conflict', 'refused', 'merged'];

const OF_SESSIONS_HERE = ['everywhere', 'state', 'failed', 'sort', 'watch', 'folders'] as const;

export const sessionList = defineCommand({
  usage: 'session list [remote-name]',
  elsewhere: { '--merged': 'agt remove --merged -n' },
  summary: 'list the sessions, their work, and whether it would merge',
  description:
    'List the sessions of this repository. A narrow terminal shows fewer columns.\n' +
    'NOW: since when the agent works, waits for you, is done or has failed, as its hooks say.\n' +
    'COMMITS: commits of HEAD that the user branch lacks, without those of yours that the session began with, or that have ' +
    'landed with its parent or a fork.\n' +
    'DIRTY: files that differ from HEAD.\n' +
    'DIFF: lines that agt accept would bring, with those that you have rejected; with a conflict, those of the sandbox against the start of its work. A + after them: agt has not read all, as there are more than 2,000 untracked files, or ' +
    'uncommitted ones of more than 1 MiB.\n' +
    'BEHIND: commits of the user branch that HEAD lacks.\n' +
    'MERGE: whether the user branch could take the sandbox as it is (clean, conflict); whether agt accept does not even ' +
    'try (accept refuses: git is in an operation there, files have conflicts, HEAD lacks commits of the work branch, or a ' +
    'repository inside would land without its files); or ' +
    'who has the work already (merged: the branch, also squashed or rebased, or as merged on says that branch at a ' +
    'remote alone; accepted: the branch, by agt accept; exported: a remote).\n' +
    'ENDED: when, and as which commit.\n' +
    'REASON: why a session waits, failed or ended, or where it is if it is away.',
  positionals: {
    'remote-name': option.value('a remote, or its address: list the sessions there, in place of those here'),
  },
  options: {
    all: option.flag('include sessions that have ended', 'a'),
    sort: option.value(`sort by ${SORT_KEYS}; with - before it, in reverse`),
    failed: option.flag('only sessions that have failed'),
    watch: option.flag(
      'show the list again whenever it changes, until Ctrl-C; with --json a line each time',
      'w',
    ),
    state: option.value(
      `only sessions in these states, of STATE or NOW: ${STATES.join(', ')} (reverted: agt session sweep ended it)`,
    ),
    remote: option.flag('the same for the remote of agt.push, else origin'),
    folders: option.flag(
      'also the folder here if it has snapshots without a session; with --everywhere all of them',
    ),
    ...option.shared('everywhere', 'json'),
  },
  examples: [
    ['agt list', 'see which session needs you'],
    ['agt list --sort=-commits', 'the most commits first'],
    ['agt list --state=failed,waits', 'only those that need you'],
    ['agt list --sort=now', 'agents that wait for you first'],
    ['agt list --watch', 'see at once which agent waits for you'],
    ['agt list --json | jq -r .[].sandbox', 'print the path of every sandbox'],
  ],
  run: async function list(args, context, isOnce = false): Promise<Answer> {
    const { watch } = args;
    const ofRemote = args.remote || (await isRemoteName(context, args.remoteName));
    const ofSessionsHere = OF_SESSIONS_HERE.find((name) => args[name]);
    if (ofRemote && ofSessionsHere)
      throw usageError(
        `a remote and --${ofSessionsHere} are given`,
        `--${ofSessionsHere} is for the sessions of repositories here`,
      );
    if (ofRemote) return listRemote(context, args.remoteName);
    if (watch && !isOnce) return watchList(context, args.json, (there) => list(args, there, true));
    const states = parseStates(args.failed ? [args.state, 'failed'].filter(Boolean).join(',') : args.state);
    const compare = comparison(args.sort);
    if (args.folders) {
      const parts = [
        () => list({ ...args, folders: false }, context, true),
        () => listFolders(context, args.everywhere),
      ];
      const report = await reportEach(parts, Object, async (part) => partOf(await part()));
      return { ...report, text: report.text.replace(/^\n/, '') };
    }
    if (args.everywhere) {
      const report = await everywhere(context, (there) => list({ ...args, everywhere: false }, there, true));
      return states === undefined ? withNote(report, context.env, args.all === true) : report;
    }
    const repository = await context.repositoryIfAny();
    if (repository === undefined)
      return {
        json: [],
        text: () => noSessions(context),
        notes: 'hint: in all repositories: agt list --everywhere\n',
      };
    const { records, damaged } = listRecords(repository);
    const candidates = records.filter((record) => mayBeIn(record, states, args.all));
    const surveyed = await surveySessions(repository, candidates, { counts: args.json && !watch });
    const isIn = (view: SessionStatus) =>
      states === undefined ||
      [view.record.state, shownState(view), view.agentState?.state ?? ''].some((state) => states.has(state));
    const views = surveyed.filter(isIn).toSorted(compare);
    const shown = views.map(({ record }) => record);
    const fresh = args.json ? await countNew(repository, shown, context.now()) : undefined;
    const pulse = watch && args.json ? await readPulse(repository, shown, context.now()) : undefined;
    for (const { problem } of damaged) context.err(`warning: ${problem}\n`);
    return {
      json: views.map((view) => ({
        ...sessionJson(view),
        new_hunks: fresh?.get(view.record.session_id) ?? null,
        ...(pulse && { pulse: pulse(view.record) }),
      })),
      text: views.length > 0 ? sessionTable(context, views) : '',
      warnings: outOfSightNote(views) + movedNote(views) + partialCloneNote(repository, views),
      notes:
        candidates.length === 0 && states === undefined ? await nothingNote(repository, records.length) : '',
    };
  },
});

/** @throws AgtError if it may be a session */
async function isRemoteName(context: Context, name: string | undefined): Promise<boolean> {
  if (name === undefined) return false;
  const repository = await context.repository();
  if (idProblem(name) !== undefined || (await isRemote(repository.git, name))) return true;
  namedSession(repository, name);
  throw usageError(`a list has every session, not "${name}" alone`, `see: agt session show ${name}`);
}

function partialCloneNote(repository: Repository, views: readonly SessionStatus[]): string {
  const isOpen = ({ diff, headCommit }: SessionStatus) => diff === undefined && headCommit !== undefined;
  if (!views.some(isOpen) || !isPartialClone(repository)) return '';
  return 'note: DIFF and MERGE stay empty in a partial clone: git would have to fetch files to compare\n';
}

function parseStates(text: string | undefined): ReadonlySet<string> | undefined {
  const words = text?.split(',').map((word) => word.trim());
  const unknown = words?.find((word) => !STATES.includes(word));
  const ofColumn = OF_MERGE.includes(unknown ?? '')
    ? [`"${unknown}" is no state, but in the column MERGE; those that are merged: agt remove --merged -n`]
    : [];
  if (unknown !== undefined)
    throw usageError(`unknown state "${unknown}"`, `states: ${STATES.join(', ')}`, ...ofColumn);
  return words && new Set(words);
}

function mayBeIn(record: SessionRecord, states: ReadonlySet<string> | undefined, all: boolean): boolean {
  if (states === undefined) return all || !isEnded(record);
  return states.has(record.state) || (isActive(record) && STATES_OF_NOW.some((state) => states.has(state)));
}

function comparison(key: string | undefined): (a: SessionStatus, b: SessionStatus) => number {
  if (key === undefined) return () => 0;
  const name = key.replace(/^-/, '');
  const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (value === undefined) throw usageError(`cannot sort by "${name}"`, `sort by ${SORT_KEYS}`);
  const direction = key.startsWith('-') ? -1 : 1;
  return (one, other) => {
    const [a, b] = [value(one), value(other)];
    return a === b ? 0 : a < b ? -direction : direction;
  };
}

export const sessionShow = defineSessionCommand({
  name: 'session show',
  summary: 'show one session: its agent, its work, paths and branches',
  options: option.shared('json'),
  examples: [['agt session show fix-login', 'show everything about one session']],
  run: async (_, context, session) => {
    const view = await readSessionStatus(session);
    const moment = listMoments(session.repository.agtDir, view.record).findLast(isThere);
    const last = view.lastAutocommit && (await readSnapshotMetadata(session.git, view.lastAutocommit.commit));
    const skipped = last?.manifest.skipped ?? [];
    const stash = await stashEntries(session);
    const text = async () => {
      const rows = await describe(session, view, moment, context.now());
      const shared = (await sharedStashEntries(session)).map((line) => `in your git stash list: ${line}`);
      const stashed = [...stash, ...shared].map((line, i) => [i === 0 ? 'stash' : '', showPath(line)]);
      return table([...rows, ...stashed, ...leftOutRows(view.record, skipped)]);
    };
    const frozen = moment && { folder: moment.token.path, commit: moment.commit, at: moment.made };
    return { json: { ...sessionJson(view), skipped, stash, last_frozen: frozen ?? null }, text };
  },
});

async function describe(session: Session, view: SessionStatus, moment: Moment | undefined, now: Date) {
  const { record, headCommit, folder, sandboxPresent, isOutOfSight, pushed } = view;
  const { work_branch: work, user_branch: home, sandbox, exported, from } = record;
  const workBranch = shortBranch(work);
  const at = (tip: string | undefined) => (tip === undefined ? '' : ` at ${shortOid(tip)}`);
  const broken = existsSync(sandbox) ? 'git does not know it as a worktree' : 'missing';
  const removed = isEnded(record) ? 'removed with the session' : broken;
  const missing = isOutOfSight ? 'out of sight from here' : removed;
  const workTip = await resolveObject(session.git, work);
  const startCommit = shortOid(record.from_commit);
  const lacks = home && (await resolveObject(session.git, home)) === undefined ? ', which is not here' : '';
  // For a session in place: the user sees that branch checked out.
  const words = ['log', '-1', '--no-show-signature', '--format=%h %s', work, '--'];
  const commit = record.checkout === undefined ? undefined : await gitAnswer(session.git, words);
  const landings = view.landings.filter(([, { isLost }], i) => i === 0 || !isLost);
  const frozen = moment && `${age(new Date(moment.made), now)}, snapshot ${shortOid(moment.commit)}`;
  return [
    ['session', record.session_id],
    ['state', [shownState(view), record.state_reason].filter(Boolean).join(': ')],
    isEnded(record) &&
      record.state_at !== undefined && [
        'ended',
        `${localTime(new Date(record.state_at))} (${age(new Date(record.state_at), now)})`,
      ],
    ...rowsOfNow(view, now),
    ['folder', folder],
    ['sandbox', sandboxPresent ? sandbox : `${sandbox} (${missing})`],
    sandboxPresent && view.head !== workBranch && ['head', `${currentBranch(view)}${at(headCommit)}`],
    (workTip !== undefined || !isEnded(record)) && ['work branch', `${workBranch}${at(workTip)}`],
    ['shadow branch', `${shortBranch(record.branch)}, ${plural(view.autocommits ?? 0, 'autocommit')}`],
    ['last autocommit', view.lastAutocommit === undefined ? 'never' : age(view.lastAutocommit.time, now)],
    ['user branch', home === undefined ? 'none (started from a commit)' : `${shortBranch(home)}${lacks}`],
    ['start commit', from === undefined ? startCommit : `${startCommit} from session ${from}`],
    ...landings.map(([landed, fate], i) => [
      i === 0 ? 'landed' : '',
      `${landed.in_part ? 'in part as ' : ''}${landedPlace(landed, fate)}`,
    ]),
    exported && ['exported', `${shortOid(exported.commit)} to ${exported.remote} as ${exported.branch}`],
    pushed && ['pushed', `to ${pushed.remote}, ${age(new Date(pushed.at), now)}`],
    record.away && [
      'away',
      showPath(placeOfAway(record.away)) +
        (record.away.holder ? '' : `, for ${record.away.sealed ? 'other keys' : 'anybody'}`),
    ],
    ['created', localTime(new Date(record.created_at))],
    ['provider', `${record.provider}${record.captures === undefined ? '' : ', snapshots by command only'}`],
    ['working copy', record.working_copy],
    record.agent !== undefined && ['agent', record.agent],
    record.profile !== undefined && ['profile', record.profile],
    commit !== undefined && ['last commit', commit],
    moment && ['last frozen', `${frozen}: ${moment.token.path}`],
  ];
}

/** By session; only of those in which something was marked, and that agt can read. */
async function countNew(repository: Repository, records: readonly SessionRecord[], now: Date) {
  const names = await gitLines(repository.git, ['for-each-ref', '--format=%(refname)', '--', REVIEWS]);
  const counts = new Map<string, number>();
  for (const record of records) {
    if (!isActive(record) || !names.includes(reviewRef(record.session_id))) continue;
    const hunks = await listHunks(new Session(repository, record), { now }).catch(() => undefined);
    if (hunks) counts.set(record.session_id, hunks.filter(({ state }) => state === 'new').length);
  }
  return counts;
}
