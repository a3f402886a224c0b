/** Before a session leaves without encryption: what would be sent is searched for secrets. */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, listSome, plural, someLines } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { findObjects, readContents, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTreeWords, parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { type Git, gitBytes, gitText } from '../git/run/git.ts';
import type { SessionRecord } from '../session/record.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import { findSecrets, holdsSecrets, type SecretValues, secretsInFile } from './secret-values.ts';

/** Bytes of a file of keys or a login. */
const LARGEST = 2 ** 20;

/** Every version of every file that commits of `range` have, by its path in a tree: lines for git rev-list. */
export async function filesIn(git: Git, range: string): Promise<DiffEntry[]> {
  const commits = await gitText(git, ['rev-list', '--stdin'], { input: range });
  const words = [...diffTreeWords(false), '--stdin', '--root', '--diff-merges=first-parent'];
  const output = await gitBytes(withoutIndex(git), words, { input: `${commits}\n` });
  return [...parseRawDiff(output.toString('latin1'), (path) => path).values()].flat();
}

/** Values in files of keys and logins, also of those that are left out. */
export async function secretsOf(git: Git, files: readonly DiffEntry[]): Promise<SecretValues> {
  const paths = new Map<string, string>();
  for (const { path, after } of files)
    if (after?.mode.startsWith('100') && holdsSecrets(decodePath(path))) paths.set(after.oid, shown(path));
  const sizes = await findObjects(git, [...paths.keys()]);
  const small = [...paths.keys()].filter((_, i) => (sizes[i]?.size ?? 0) <= LARGEST);
  const found = await readObjects(git, small);
  return new Map(found.flatMap((one) => (one ? secretsInFile(paths.get(one.oid) ?? '', one.content) : [])));
}

/**
 * In what `range` has, which is lines for git rev-list. `originals`: the snapshots here, by the names that they have on the
 * remote. `encrypted`: how to send it encrypted. @throws AgtError that names every place
 */
export async function refuseSecrets(
  git: Git,
  range: string,
  record: SessionRecord,
  values: SecretValues,
  originals: ReadonlyMap<string, string>,
  encrypted: string,
): Promise<void> {
  const secrets = new Map<string, { kind: string; places: Set<string> }>();
  const search = (text: string, place: string) => {
    for (const { kind, start, end } of findSecrets(text, values)) {
      const secret = text.slice(start, end);
      const known = secrets.get(secret) ?? { kind, places: new Set() };
      secrets.set(secret, known);
      known.places.add(masked(place, values));
    }
  };
  const { token: _, ...rest } = record;
  search(Buffer.from(JSON.stringify(rest)).toString('latin1'), 'the metadata of the session');
  const words = ['rev-list', '--objects', '--in-commit-order', '--stdin'];
  const listed = (await gitBytes(git, words, { input: range })).toString('latin1').split('\n').slice(0, -1);
  const oids = listed.map((line) => line.split(' ', 1)[0] as string);
  let commit = '';
  const placeOf = listed.map((line, i) => {
    const path = line.slice((oids[i] as string).length + 1);
    if (line === oids[i]) commit = shortOid(originals.get(line) ?? line);
    return line === oids[i] ? `the message of ${commit}` : `${shown(path)} in ${commit}`;
  });
  await readContents(git, oids, async (i, chunks) => {
    for await (const text of windows(chunks)) search(text, placeOf[i] as string);
  });
  if (secrets.size === 0) return;
  const id = record.session_id;
  const what = `${plural(secrets.size, 'secret')} would leave session "${masked(id, values)}" in plain text`;
  throw new AgtError(`${what}, and nothing was sent`, {
    hints: [
      ...someLines(
        [...secrets].map(
          ([secret, { kind, places }]) => `${kind}, ${mask(secret)}: ${listSome([...places], PLACES)}`,
        ),
        LISTED,
      ),
      `to send all of it encrypted: ${encrypted}`,
      'or send them all the same: --allow-secrets',
    ],
  });
}

/** `text` with asterisks in place of secrets. */
export function cutSecrets(text: string, values: SecretValues): string {
  const bytes = Buffer.from(text).toString('latin1');
  const cut = withoutSecrets(bytes, values, () => '***');
  return cut === bytes ? text : Buffer.from(cut, 'latin1').toString();
}

/** For one secret, and for the message. */
const PLACES = 3;
const LISTED = 1000;

/** A name or a path, which may itself be a secret. */
function masked(text: string, values: SecretValues): string {
  return withoutSecrets(text, values, mask);
}

function withoutSecrets(text: string, values: SecretValues, replace: (secret: string) => string): string {
  const secrets = findSecrets(text, values).toSorted((a, b) => b.start - a.start);
  return secrets.reduce(
    (rest, { start, end }) => rest.slice(0, start) + replace(rest.slice(start, end)) + rest.slice(end),
    text,
  );
}

function mask(secret: string): string {
  return `${displayPath(secret.slice(0, SHOWN))}…`;
}

const SHOWN = 4;

function shown(path: string): string {
  const text = displayPath(decodePath(path));
  return text.startsWith('sandbox/') ? text.slice('sandbox/'.length) : text || 'the names of files';
}

/** Pieces of a file of any size; each begins with the end of the one before. */
async function* windows(chunks: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk.toString('latin1');
    if (text.length < WINDOW) continue;
    yield text;
    text = text.slice(-OVERLAP);
  }
  yield text;
}

const WINDOW = 2 ** 20;
const OVERLAP = 4096;
