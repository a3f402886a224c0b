/** Objects of snapshots are for their owner alone: a snapshot holds files that nobody else may read. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { agtOk, git, makeRepository, write } from '../harness/world.ts';

const mode = (path: string) => statSync(path).mode & 0o777;

/** Names of objects that others than the owner may read, in packs and loose. */
function readableObjects(repository: string): string[] {
  const objects = join(repository, '.git/objects');
  const found: string[] = [];
  for (const name of readdirSync(objects).filter((directory) => directory !== 'info')) {
    for (const file of readdirSync(join(objects, name))) {
      const path = join(objects, name, file);
      if ((mode(path) & 0o077) === 0) continue;
      if (file.endsWith('.pack')) found.push(...git(repository, 'verify-pack', '-v', path).split('\n'));
      else if (name !== 'pack') found.push(name + file);
    }
  }
  return found.map((line) => line.split(' ')[0] ?? '');
}

test('packs of snapshots stay for their owner alone when agt joins them, and others stay readable', () => {
  const before = process.umask(0o022);
  const { repository, sandbox, id } = makeSession({ 'public.txt': 'for all\n' });
  git(repository, 'repack', '-d', '-q');
  const secrets = Array.from({ length: 12 }, (_, i) => {
    write(join(sandbox, '.env'), `TOKEN ${i}\n`, 0o600);
    write(join(sandbox, `file${i}`), `${i}\n`);
    autocommit({ repository, sandbox, id, folder: join(sandbox, '..') });
    return git(repository, 'rev-parse', `agtsessions/${id}:sandbox/.env`);
  });
  const shared = git(repository, 'rev-parse', 'main:public.txt');
  const readable = () => readableObjects(repository);
  expect(readable().filter((oid) => secrets.includes(oid))).toEqual([]);
  const packs = () =>
    readdirSync(join(repository, '.git/objects/pack')).filter((name) => name.endsWith('.pack'));
  const count = packs().length;
  agtOk(repository, 'gc', '--thin', '--prune=now');
  process.umask(before);
  expect(packs().length).toBeLessThan(count);
  expect(readable().filter((oid) => secrets.includes(oid))).toEqual([]);
  expect(readable()).toContain(shared);
  expect(git(repository, 'cat-file', 'blob', secrets.at(-1) ?? '')).toBe('TOKEN 11');
  git(repository, 'fsck');
});

test('a shared repository stays shared', () => {
  const repository = makeRepository();
  git(repository, 'config', 'core.sharedRepository', 'group');
  agtOk(repository, 'session', 'new', '--id', 's1');
  agtOk(repository, 'autocommit', 's1');
  const directory = join(repository, '.git/objects/pack');
  const packs = readdirSync(directory).filter((name) => name.endsWith('.pack'));
  expect(packs).toHaveLength(1);
  for (const name of packs) expect(mode(join(directory, name)) & 0o040).toBe(0o040);
});
