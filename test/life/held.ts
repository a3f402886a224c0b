/** Nothing of the agent's is lost: the last snapshot has every file, and its commits have a name. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import type { Facts } from './facts.ts';
import { ok, REAL_GIT, run } from './programs.ts';
import { zeroed } from './worktree.ts';

/** Digests of files and links as git would name them, by path; for those of a directory that git ignores too. */
export type Content = ReadonlyMap<string, string>;

export function readContent(root: string, facts: Facts): Content {
  const content = new Map<string, string>();
  for (const [key, text] of facts) {
    if (!key.startsWith('file ') || text.startsWith('directory')) continue;
    const path = key.slice('file '.length);
    const absolute = Buffer.from(`${root}/${path}`, 'latin1');
    const isLink = lstatSync(absolute).isSymbolicLink();
    const bytes = isLink ? readlinkSync(absolute, 'buffer') : readFileSync(absolute);
    const head = `blob ${bytes.length}\0`;
    content.set(
      path,
      `${isLink ? 'link' : 'file'} ${createHash('sha1').update(head).update(bytes).digest('hex')}`,
    );
  }
  return content;
}

/** @throws Error if a file is not in the last snapshot of the session, that of the end of a sync aside. */
export function snapshotHolds(root: string, id: string, content: Content): void {
  const last = `refs/heads/agtsessions/${id}`;
  const isAfterSync = ok(REAL_GIT, ['log', '-1', '--format=%s', last, '--'], root) === 'after sync\n';
  const held = filesOf(root, isAfterSync ? `${last}^1` : last);
  const lost = [...content].filter(([path, what]) => held.get(path) !== what);
  if (lost.length > 0)
    throw new Error(`the last snapshot of ${id} lacks what the agent left: ${JSON.stringify(lost)}`);
}

/** The files of a sandbox in a snapshot: kind and blob, by path. */
export function filesOf(root: string, snapshot: string): Content {
  const lines = zeroed(ok(REAL_GIT, ['ls-tree', '-r', '-z', '--full-tree', snapshot, 'sandbox/'], root));
  return new Map(
    lines.map((line) => {
      const [, mode, oid, path] = /^(\d+) \S+ (\S+)\tsandbox\/(.*)$/s.exec(line) as string[];
      return [decoded(path as string), `${mode === '120000' ? 'link' : 'file'} ${oid}`];
    }),
  );
}

/** docs/glossary.md: names that a tree must not have stand in it as hex. */
function decoded(path: string): string {
  const names = path.split('/').map((name) => /^%agt-(.*)$/.exec(name)?.[1] ?? name);
  const whole = path.split('/');
  return names
    .map((name, i) => (name === whole[i] ? name : Buffer.from(name, 'hex').toString('latin1')))
    .join('/');
}

/** The commits of branches and HEAD before the end. @throws Error if a ref keeps one no more. */
export function commitsAreKept(root: string, commits: readonly string[]): void {
  const { stdout, stderr, exitCode } = run(REAL_GIT, ['rev-list', ...commits, '--not', '--all', '--'], root);
  const lost = commits.filter((commit) => stdout.includes(commit));
  if (exitCode !== 0 || lost.length > 0) throw new Error(`nothing keeps ${lost.join(', ')} ${stderr}`);
}
