/** Sessions as text and as JSON. */
import { existsSync } from 'node:fs';
import type { NotCaptured } from '../../autocommit/capture.ts';
import { isTooLarge } from '../../autocommit/scan/scan-options.ts';
import { FEW, someLines } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { shownId, shownPath } from '../../folders/store.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { isAlone } from '../../session/owner.ts';
import { EMPTY_FIELDS, isAttached, type Landed, type SessionRecord } from '../../session/record.ts';
import type { Fate } from '../../survey/landed.ts';
import { type Landing, landingPlace } from '../../survey/landing-place.ts';
import type { SessionStatus } from '../../survey/status.ts';
import { lines, orNull, showPath } from './format.ts';

/** Metadata as docs/guide/json.md has them: there `branch` is nothing, because a session has three. */
export function recordJson({ branch, landed, ...given }: SessionRecord) {
  const { failure: _, taken_back: __, synced: ___, renamed: ____, ...record } = given;
  return {
    ...ABSENT,
    ...record,
    shadow_branch: branch,
    landed: landed === undefined ? null : landedJson(landed),
  };
}

const ABSENT = {
  ...EMPTY_FIELDS,
  ...{ state_at: null, state_reason: null, user_branch: null, checkout: null, folder_identity: null },
  ...{ stands_at: null, token: null, captures: null, intent: null, owner: null, agent: null },
  ...{ exported: null, moved: null, away: null },
} as const satisfies { [K in OptionalField]: null };

/**
 * `landed` and `failure` have other forms in JSON; `taken_back` is for `agt activity`, `synced` for `agt list`, `renamed`
 * for the history.
 */
type OptionalField = Exclude<
  { [K in keyof SessionRecord]-?: undefined extends SessionRecord[K] ? K : never }[keyof SessionRecord],
  'landed' | 'failure' | 'taken_back' | 'synced' | 'renamed'
>;

function landedJson(
  { from, onto, before, source, in_part: inPart, ...landed }: Landed,
  nameNow = (ref: string) => ref,
): object {
  return {
    ...landed,
    onto: shortBranch(nameNow(onto)),
    onto_before: from,
    ...orNull({ source }),
    in_part: inPart === true,
    before: before === undefined ? null : landedJson(before, nameNow),
  };
}

/** With what has become of it. */
export function landingJson({ commit, onto }: Pick<Landed, 'commit' | 'onto'>, fate: Fate): Landing {
  return {
    commit,
    onto: shortBranch(fate.renamedTo ?? onto),
    lost: fate.isLost,
    elsewhere: fate.isElsewhere,
    ...orNull({ now_as: fate.nowAs, reverted_by: fate.revertedBy }),
    reverted_in_part: fate.isRevertedInPart === true,
  };
}

export const landedPlace = (landed: Pick<Landed, 'commit' | 'onto'>, fate: Fate) =>
  landingPlace(landingJson(landed, fate));

export function sessionJson({ record, folder, isOutOfSight, sandboxPresent, ...status }: SessionStatus) {
  const { landed } = record;
  const { agentState, lastPrompt, headCommit, lastAutocommit: last, lastComplete } = status;
  const { running, operation, head, ahead, behind, dirty, diff, merge, landings } = status;
  const nameNow = (ref: string) => landings.find(([{ onto }]) => onto === ref)?.[1].renamedTo ?? ref;
  const times = [record.last_activity_at, last?.time, agentState?.since].filter((at) => at !== undefined);
  return {
    ...recordJson(record),
    landed:
      landed === undefined ? null : { ...landedJson(landed, nameNow), ...landingJson(landed, status.fate) },
    last_activity_at: new Date(Math.max(...times.map((at) => Number(new Date(at))))).toISOString(),
    folder,
    sandbox_present: isOutOfSight ? null : sandboxPresent,
    ...orNull({ agent_state: agentState, last_prompt: lastPrompt, running, operation, head }),
    ...orNull({ head_commit: headCommit, ahead, behind, dirty, diff, merge }),
    merged: status.merged,
    on_remote: status.exported,
    ...orNull({ merged_on: status.mergedOn, pushed: status.pushed }),
    ...orNull({ autocommits: status.autocommits, last_autocommit: last?.commit }),
    ...orNull({ last_autocommit_at: last?.time.toISOString() }),
    last_complete_at: lastComplete?.toISOString() ?? null,
  };
}

/** The branch that is checked out in the sandbox; without a sandbox, the work branch. */
export function currentBranch(status: SessionStatus): string {
  return status.head ?? (status.sandboxPresent ? '(detached)' : shortBranch(status.record.work_branch));
}

/** One word for the state of a session, or two: what a person has to know first. */
export function shownState(status: SessionStatus): string {
  const { record, sandboxPresent, isOutOfSight, hasMoved, operation, running } = status;
  if (!isActive(record) || record.state === 'away') return record.state;
  if (!sandboxPresent && !isOutOfSight) {
    if (hasMoved) return 'sandbox moved';
    return existsSync(record.sandbox) ? 'sandbox broken' : 'sandbox missing';
  }
  if (record.state === 'failed') return 'failed';
  if (record.intent !== undefined) return `${record.intent.operation} unfinished`;
  if (operation !== undefined) return `in a ${operation}`;
  return running === true ? (isAlone(record.owner) ? 'running alone' : 'running') : record.state;
}

export function describeNotCaptured(record: SessionRecord, failed: readonly NotCaptured[]): string {
  const id = shownId(record);
  const shown = (path: string) => showPath(shownPath(record, path));
  return lines(failed.map(({ path, reason }) => `error: ${id}: ${shown(path)} ${reason}`));
}

/** Rows of a table: what no snapshot holds, why, and the setting that takes it. */
export function leftOutRows(record: SessionRecord, skipped: readonly NotCaptured[], heading = 'left out') {
  const lines = skipped.map(({ path, reason }) => `${showPath(shownPath(record, path))} ${reason}`);
  const hasLarge = skipped.some(isTooLarge);
  const scope = isAttached(record) ? '--global ' : ''; // outside of a repository there is no other one
  const way = hasLarge ? [`to take larger files: agt config set ${scope}agt.maxFileSize SIZE`] : [];
  return [...someLines(lines, FEW), ...way].map((line, i) => [i === 0 ? heading : '', line]);
}
