/** agt session push and pull. */
import { showSize } from '../../../config/values.ts';
import { plural, usageError } from '../../../errors.ts';
import { SHARED } from '../../../filter/agent-refs.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { resolveObject } from '../../../git/run/git.ts';
import type { Repository } from '../../../repository/repository.ts';
import { namedSession } from '../../../session/find-session.ts';
import { isAttached, listRecords, recordNamed, type SessionRecord } from '../../../session/record.ts';
import { connectAgain } from '../../../session/relocate.ts';
import { Session } from '../../../session/session.ts';
import { placeOf, readShares } from '../../../session/share-file.ts';
import { isEnded } from '../../../session/state.ts';
import { deleteShare } from '../../../travel/delete-share.ts';
import type { Pulled } from '../../../travel/find-share.ts';
import { readKeys, recipientOf } from '../../../travel/keys.ts';
import { pullSession } from '../../../travel/pull.ts';
import { type PushRequest, pushInBackground, pushSession } from '../../../travel/push.ts';
import { isHere } from '../../../travel/share.ts';
import { defineCommand, option, SESSION_ARGUMENT } from '../../command-line/command.ts';
import { about, partOf, type Report, reportEach } from '../../command-line/report.ts';
import { type Context, openContext } from '../../context.ts';
import { lines, showPath, verb } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import { recordJson } from '../../output/session.ts';
import { sessionAndWords, sessionIfAny } from '../../session-here.ts';

const REMOTE =
  'a remote, or its address (default: where the session was pushed last, else agt.push, the only remote, or origin)';

/** Also of agt session bundle. */
export const PLAIN = {
  plain: option.flag(
    'encrypt nothing; without ignored files and the settings and conversations of the agent',
  ),
  'with-ignored': option.flag('with --plain: with all that'),
  'allow-secrets': option.flag('with --plain: send also what looks like a key or a password'),
} as const;

export const sessionPush = defineCommand({
  usage: 'session push [id] [remote]',
  summary: 'send a session to a remote, whole and encrypted',
  description:
    'Autocommit the session, and send what the remote does not have of it: every snapshot, with ignored files and ' +
    `settings, under ${SHARED}, which no clone fetches. All of it is encrypted for your key (agt key) and for ` +
    'agt.recipients, ids and prompts too. The session goes on here; another repository gets it by agt session pull ' +
    '--take. After a push with --release, it is away here, and agt session pull is enough.',
  positionals: { id: SESSION_ARGUMENT, remote: option.value(REMOTE) },
  options: {
    all: option.flag('all sessions that have not ended', 'a'),
    release: option.flag('give the session away: it is away here, and goes on where somebody pulls it'),
    ...PLAIN,
    again: option.flag(
      'send everything once more, for your agt.recipients alone: the remote has lost a part, or somebody is no longer to read it',
    ),
    delete: option.flag(
      'delete the copy of the session on the remote that it was pushed to; the id may be the word in column COPY of agt session list --remote',
    ),
    force: option.flag(
      'with --delete: also if another repository has the session, or had it; list it first (agt session list --remote): a copy that has changed since then stays',
      'f',
    ),
    later: { ...option.flag('for agt.push: in the background, when it is time'), hidden: true },
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session push fix-login', 'a copy on the remote of this repository'],
    ['agt session push fix-login --release', 'to go on at another machine'],
    ['agt session push --all backup', 'every session, to another remote'],
  ],
  run: async ({ id, remote, all, later, ...args }, context) => {
    const given = [id, remote].filter((word) => word !== undefined);
    if (args.delete && all) throw usageError('--all and --delete are given', 'delete one copy at a time');
    if (args.delete && args.release) throw usageError('--release and --delete are given', 'give one of them');
    if (args.force && !args.delete) throw usageError('--force is for --delete', 'leave it out');
    if (args.delete) return deleteCopy(context, given, { ...args, remote });
    if (!all) {
      const { session, words } = await sessionToSend(context, given);
      if (!later) return push(context, await connectAgain(session), { ...args, remote: words[0] });
      const open = () => openContext(context.cwd, context.env).repository();
      await pushInBackground(session, { open, env: context.env, now: context.now });
      return 0;
    }
    const example = 'for example: agt session push --all origin';
    if (given.length > 1) throw usageError('--all and a session are given', example);
    const repository = await context.repository();
    const named = given.find((word) => recordNamed(repository, word) !== undefined);
    if (named !== undefined) throw usageError(`--all and session "${named}" are given`, example);
    const isHere = (record: SessionRecord) => !isEnded(record) && record.away === undefined;
    const records = listRecords(repository).records.filter(isHere);
    const report = await reportEach(
      records,
      ({ session_id }) => ({ session_id }),
      async (record) => {
        const pushing = push(context, new Session(repository, record), { ...args, remote: given[0] });
        return partOf(await pushing.catch((error) => Promise.reject(about(record.session_id, error))));
      },
    );
    return records.length > 0 ? report : { ...report, notes: 'note: no session is active\n' };
  },
});

/** Snapshots of a folder do not travel, so the word of a person there is a session, and no remote. */
async function sessionToSend(context: Context, given: readonly string[]) {
  const found = await sessionAndWords(context, given, undefined, 1);
  const [word] = found.words.length === given.length ? given : [];
  if (word !== undefined && isAttached(found.session.record)) namedSession(await context.repository(), word);
  return found;
}

type Deletion = Parameters<typeof deleteShare>[3];

async function deleteCopy(context: Context, given: readonly string[], options: Deletion): Promise<Report> {
  const { dryRun } = options;
  const [name = '', at] = given;
  const repository = await context.repository();
  const isHere = recordNamed(repository, name) !== undefined;
  const around = at === undefined ? await sessionIfAny(context) : undefined;
  // In the folder of a session, the only word is a remote.
  const isElsewhere = name !== '' && !isHere && (around === undefined || isAttached(around.record));
  const found = isElsewhere ? { session: name, words: [at] } : await sessionToSend(context, given);
  const of = found.session;
  const keys = await readKeys(context.env);
  const deleted = await deleteShare(repository, of, keys, { ...options, remote: found.words[0] });
  const { remote, id, session } = deleted;
  const from = session?.record.moved?.from;
  return {
    json: { session_id: id ?? null, remote, deleted: !dryRun, dry_run: dryRun },
    text: `${verb(dryRun, 'deleted', 'delete')} the copy of ${typeof of === 'string' ? of : of.id} on ${remote}\n`,
    warnings: lines([
      session !== undefined &&
        from !== undefined &&
        from !== session.record.sandbox &&
        readShares(session).copies.length === 0 &&
        `warning: ${session.id} came from ${from}: nobody can pull it back there without a copy`,
    ]),
  };
}

type PushWords = Omit<PushRequest, 'env' | 'now'> & { readonly quiet: boolean };

async function push(context: Context, session: Session, args: PushWords): Promise<Report> {
  const request = { ...args, env: context.env, now: context.now() };
  const pushed = await interruptible(context, session, pushSession, request);
  const { record, remote, size, snapshots, madeKey, plain, left, unseen, openers } = pushed;
  const { session_id: id, away } = record;
  const amount = `${plural(snapshots, 'snapshot')}, ${size === 0 ? 'nothing new to send' : showSize(size ?? 0)}`;
  const sent = args.dryRun ? `would push ${id} to ${remote}` : `pushed ${id} to ${remote} (${amount})`;
  return {
    json: {
      ...recordJson(record),
      remote,
      snapshots,
      bytes: size ?? 0,
      left_out: left.map(({ path }) => path),
      encrypted: plain === undefined,
      dry_run: args.dryRun,
    },
    text: lines([
      size === undefined ? `${remote} has all of ${id}` : sent,
      away !== undefined &&
        `${id} is away here; in the repository where it is to go on: agt session pull ${id}`,
      args.release && isEnded(record) && `${id} is ${record.state}: anybody may pull it`,
      args.release && args.dryRun && !isEnded(record) && `${id} would be away here`,
    ]),
    warnings: lines(left.map(({ path, reason }) => `warning: ${showPath(path)} stays here: ${reason}`)),
    notes: lines([
      madeKey !== undefined &&
        !args.dryRun &&
        `note: agt made your key, ${madeKey}; without it nobody can open the session\n` +
          'note: take it to another machine: agt key export | ssh MACHINE agt key import -',
      args.release &&
        openers?.length === 1 &&
        `note: only your key opens it; for others: agt config add --global agt.recipients KEY && agt session push ${id} --again`,
      plain !== undefined && plainNote(id, remote, plain),
      unseen > 0 &&
        `note: ${plural(unseen, 'changed file')} ${unseen === 1 ? 'has' : 'have'} no snapshot yet; a push captures them first${plain === undefined ? '' : ', and refuses if they have secrets'}`,
    ]),
  };
}

const plainNote = (id: string, remote: string, plain: string) =>
  `note: ${id} is not encrypted on ${remote}, and goes there ${plain} files`;

export const sessionPull = defineCommand({
  usage: 'session pull <id> [remote]',
  summary: 'bring a session of a remote here, where it goes on',
  description:
    'Bring every snapshot of a session that somebody has pushed, and its folder as it was, and take the session: it goes ' +
    'on here, and is away where it was. If it is active in another repository, refuse; --take takes it all the same, and ' +
    'that repository learns so at its next push. If it is here as well and has snapshots that the remote does not have, ' +
    'they stay as a fork.',
  positionals: {
    id: option.required('the session, by its id or by the word in column COPY of agt session list --remote'),
    remote: option.value(REMOTE),
  },
  options: {
    as: option.value('give it this id here'),
    take: option.flag('take it from the repository where it goes on'),
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session pull fix-login', 'go on with it here'],
    ['agt session pull fix-login --take', 'the laptop that has it is lost'],
  ],
  run: async ({ id, remote, as, take, dryRun }, context) => {
    const repository = await context.repository();
    const request = { id, remote, as, take, dryRun, env: context.env, now: context.now() };
    const pulled = await pullSession(repository, request);
    const { record, head, fork, wasHere, remote: from, landed, checkout, warnings = [] } = pulled;
    const { session_id: here, sandbox, state } = record;
    const isOver = isEnded(record) && !dryRun;
    const home = isEnded(record) ? undefined : record.user_branch;
    const lacks = home !== undefined && (await resolveObject(repository.git, home)) === undefined;
    const own = (await readKeys(context.env))?.identities ?? [];
    const mine = [...(await Promise.all(own.map(recipientOf))), ...repository.settings.recipients];
    const others = wasHere || dryRun ? [] : (head?.sealedFor ?? []).filter((key) => !mine.includes(key));
    return {
      json: { ...recordJson(record), remote: from, fork: fork ?? null, was_here: wasHere, dry_run: dryRun },
      text: lines([
        describePulled(repository, pulled, dryRun),
        !wasHere && !dryRun && !isOver && `sandbox  ${sandbox}`,
        isOver && `ended    it is ${state}; bring it back: agt undo ${here}`,
        fork !== undefined &&
          `fork     ${fork} ${verb(dryRun, 'has what only this repository had', 'have what only this repository has')}`,
        landed !== undefined &&
          `accepted as ${shortOid(landed.commit)} on ${shortBranch(landed.onto)} here; it is active again`,
        checkout !== undefined &&
          `checkout ${checkout} is back on your branch; the session is in a worktree now`,
      ]),
      warnings: lines(warnings.map((text) => `warning: ${text}`)),
      notes: lines([
        lacks && `note: its work is for ${shortBranch(home)}, a branch that is not here; see: agt doctor`,
        head?.plain !== undefined && plainNote(here, from, head.plain),
        ...others.map(
          (key) =>
            `note: ${from} has ${here} encrypted for somebody else as well, such as who pushed it: ${key}`,
        ),
        others.length > 0 &&
          `note: to encrypt it for you and your agt.recipients alone: agt session push ${here} --again`,
      ]),
    };
  },
});

function describePulled(repository: Repository, { record, head, wasHere, remote }: Pulled, dryRun: boolean) {
  const id = record.session_id;
  if (wasHere) return `${id} is here${isEnded(record) ? '' : ', and goes on here'}`;
  if (head === undefined) return `${id} goes on here as it is; ${remote} has no copy any more`;
  const amount = plural(head.snapshots, 'snapshot');
  const { holder } = head;
  const isOther = holder !== undefined && !isHere({ repository }, holder);
  const before = !isOther ? '' : `; it ${dryRun ? 'is' : 'was'} at ${placeOf(holder)}`;
  return `${verb(dryRun, 'pulled', 'pull')} ${id} from ${remote} (${amount})${before}`;
}
