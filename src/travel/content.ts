/** What of a session is sent: all of it if it is encrypted; in plain text what the user agrees to. */
import { AgtError, plural, usageError } from '../errors.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import type { Repository } from '../repository/repository.ts';
import { isAttached, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { Part, Share } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { checkRecipients, keyFile, makeKeys, readKeys } from './keys.ts';
import { areHere, rangeOf } from './parts.ts';
import { cutSecrets, filesIn, refuseSecrets, secretsOf } from './secrets.ts';
import { refNames } from './share.ts';
import { withoutIgnored } from './without-ignored.ts';

/** For a remote or a reader that one trusts: nothing is encrypted. */
export interface Wish {
  readonly plain?: boolean;
  readonly withIgnored?: boolean;
  readonly allowSecrets?: boolean;
}

/** @throws AgtError for what cannot be sent */
export function plainMode(record: SessionRecord, { plain, withIgnored }: Wish): Share['plain'] {
  if (isAttached(record))
    throw new AgtError('a folder without a session cannot be sent as a session', {
      hints: ['make its snapshot a session: agt session fork'],
    });
  if (!plain && withIgnored)
    throw usageError('--with-ignored is for --plain', 'encrypted, a session has its ignored files');
  return plain ? (withIgnored ? 'with ignored' : 'without ignored') : undefined;
}

/** @throws AgtError if agt gc has deleted snapshots of an ended session: those on the remote stay. */
export function requireWhole(record: SessionRecord, kept: number, { snapshots = 0 }: Share, remote: string) {
  const { session_id: id } = record;
  if (!isEnded(record) || kept >= snapshots) return;
  throw new AgtError(
    `"${remote}" has ${plural(snapshots, 'snapshot')} of session "${id}", and this repository has ${kept}`,
    {
      hints: [
        `bring all of them back: agt session pull ${id} ${remote} --take`,
        `or give up those that agt gc has deleted: agt session push ${id} ${remote} --again`,
      ],
    },
  );
}

/**
 * `share`: the copy that is there, whose keys stay among them, unless it is sealed `again`. And the file of a key that agt
 * has just made.
 */
export async function recipientsFor(
  { settings }: Repository,
  env: NodeJS.ProcessEnv,
  plain: Share['plain'],
  share: Share | undefined,
  { again = false, dryRun = false } = {},
) {
  if (plain !== undefined) return { recipients: undefined, madeKey: undefined };
  const others = settings.recipients.length === 0 ? [] : await checkRecipients(settings.recipients);
  const known = await readKeys(env);
  const { sealedFor = [] } = share ?? {};
  if (known === undefined && sealedFor.length > 0)
    throw new AgtError(`your key, with which "${share?.remote}" has the session, is not in ${keyFile(env)}`, {
      hints: ['bring it back: agt key import FILE', 'or go on with a new one: agt key new'],
    });
  const keys = known ?? (dryRun ? undefined : await makeKeys(env));
  const kept = again ? [] : sealedFor;
  const recipients = keys === undefined ? [] : [...new Set([keys.recipient, ...others, ...kept])];
  return { recipients, madeKey: known === undefined ? keyFile(env) : undefined };
}

export interface Sending {
  /** By what they are for. */
  readonly refs: Readonly<Record<string, string>>;
  /** Undefined: encrypted. */
  readonly plain: Share['plain'];
  readonly allowSecrets: boolean;
  /** Commits that the receiver has. */
  readonly known: readonly string[];
  /** Parts on the remote. */
  readonly kept: readonly Part[];
  /** The remote, if it has a plain copy. */
  readonly plainAt?: string | undefined;
}

/**
 * The refs as they are sent, and `before`: the parts on which the next one can build. `scratch` gets what the repository
 * does not have of it. @throws AgtError if a secret would leave in plain text
 */
export async function contentOf(
  { git, repository, record }: Session,
  scratch: ScratchObjects,
  { refs, plain, allowSecrets, known, kept, plainAt }: Sending,
) {
  const all = rangeOf(Object.values(refs), known);
  const files = plain === undefined ? [] : await filesIn(scratch.git, all);
  const isLess = plain === 'without ignored';
  const names = isLess ? await withoutIgnored(scratch, repository.commonDir, all, files) : new Map();
  const named = Object.entries(refs).map(([role, commit]) => [role, names.get(commit) ?? commit]);
  const sent: Sending['refs'] = Object.fromEntries(named);
  // `agt gc --thin` may have rewritten the history. A git that reads the scratch is one more.
  const before = (await areHere(isLess ? scratch.git : git, kept.at(-1)?.tips ?? [])) ? kept : [];
  if (plain !== undefined && !allowSecrets) {
    const range = rangeOf(Object.values(sent), [...(before.at(-1)?.tips ?? []), ...known]);
    const originals = new Map([...names].map(([old, name]) => [name, old]));
    const values = await secretsOf(scratch.git, files);
    const again = `agt session push ${record.session_id} ${plainAt}`;
    const words = plain === 'with ignored' ? '--plain and --with-ignored' : '--plain';
    const encrypted = plainAt === undefined ? `leave out ${words}` : `${again} --delete && ${again}`;
    await refuseSecrets(scratch.git, range, record, values, originals, encrypted);
  }
  return { refs: sent, before };
}

export async function existingRefs({ git, record }: Session): Promise<Record<string, string>> {
  const names = Object.entries(refNames(record));
  const refs = names.map(([, ref]) => ref);
  const found = await findObjects(git, refs);
  return Object.fromEntries(names.flatMap(([role], i) => (found[i] ? [[role, found[i].oid]] : [])));
}

/** Cuts what looks like a secret out of texts about the session, and what its files of keys and logins hold. */
export async function secretsCutter(session: Session): Promise<(text: string) => string> {
  const range = rangeOf(Object.values(await existingRefs(session)), [session.record.from_commit]);
  const values = await secretsOf(session.git, await filesIn(session.git, range));
  return (text) => cutSecrets(text, values);
}
