/** An autocommit sees each change of files, whatever the change does to times, sizes and inodes. */
import { spawnSync } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit } from '../../harness/session.ts';
import { expectCaptured, makeTwins, OLD, shell } from './compare-with-disk.ts';

describe('every kind of change', () => {
  const CHANGES: [what: string, change: string][] = [
    ['a file moved over another', 'mv a.txt b.txt'],
    ['a file moved into a directory', 'mv a.txt dir/'],
    ['two files swapped', 'mv a.txt x && mv b.txt a.txt && mv x b.txt'],
    ['a directory moved', 'mv dir moved'],
    ['a directory moved into another', 'mv dir dir2/'],
    ['two directories swapped', 'mv dir x && mv dir2 dir && mv x dir2'],
    ['two directories swapped below', 'mv dir/sub x && mv dir2/sub dir/sub && mv x dir2/sub'],
    ['cp -p over a file', 'cp -p a.txt b.txt'],
    ['cp -a of a tree over another', 'cp -a dir/. dir2/'],
    ['tar -x of old files', 'tar -cf t.tar -C dir a.txt sub && tar -xf t.tar -C dir2'],
    ['touch -d into the past', 'printf "AAAA\\n" >a.txt && touch -d 1990-01-01 a.txt'],
    ['touch -d into the future', 'printf "AAAA\\n" >a.txt && touch -d 2099-01-01 a.txt'],
    ['touch -d to the same time', 'printf "AAAA\\n" >a.txt && touch -d 2001-02-03T04:05:06Z a.txt'],
    ['touch -r of another', 'printf "AAAA\\n" >a.txt && touch -r b.txt a.txt'],
    ['sed -i with the time kept', 'sed -i s/a/A/ a.txt && touch -d 2001-02-03T04:05:06Z a.txt'],
    ['chmod +x', 'chmod +x run.sh'],
    ['chmod that a tree does not show', 'chmod 600 run.sh'],
    ['a link to something else of the same length', 'ln -sfn b.txt link'],
    ['a link replaced by a file', 'rm link && printf a.txt >link'],
    ['a link replaced by a directory', 'rm link && mkdir link && echo x >link/x'],
    ['a file replaced by a link', 'ln -sf a.txt b.txt'],
    ['a file replaced by a directory', 'rm a.txt && mkdir a.txt && echo x >a.txt/x'],
    ['a directory replaced by a file', 'rm -r dir && echo x >dir'],
    ['a directory replaced by a link to one', 'rm -r dir && ln -s dir2 dir'],
    ['another case of a file', 'mv a.txt A.TXT'],
    ['another case of a directory', 'mv dir DIR'],
    ['both cases', 'cp -p a.txt A.txt && echo x >A.txt'],
    ['one name of two of a file written to', 'printf "BBBB\\n" >hard && touch -d 2001-02-03T04:05:06Z hard'],
    ['a hard link made', 'ln a.txt c.txt'],
    ['a hard link in the place of another file', 'ln -f a.txt b.txt'],
    ['one of two hard links replaced', 'cp hard x && echo y >>x && mv x hard'],
    [
      'a file with holes',
      'truncate -s 3M holes && printf x | dd of=holes bs=1 seek=1000000 conv=notrunc status=none',
    ],
    ['a hole punched', 'truncate -s 0 a.txt && truncate -s 5 a.txt && touch -d 2001-02-03T04:05:06Z a.txt'],
    ['removed and made again', 'cp -p a.txt x && rm a.txt && mv x a.txt && printf "AAAA\\n" >a.txt'],
  ];

  test.for(CHANGES)('%s', ([_what, change]) => {
    const session = makeTwins();
    shell(session.sandbox, change);
    autocommit(session);
    expectCaptured(session);
  });

  test('rsync -a of old files', ({ skip }) => {
    skip(spawnSync('rsync', ['--version']).status !== 0, 'there is no rsync(1)');
    const session = makeTwins();
    shell(session.sandbox, 'rsync -a --ignore-times dir/ dir2/');
    autocommit(session);
    expectCaptured(session);
  });

  test('two changes of one file between two autocommits, and a change that is reverted', () => {
    const session = makeTwins();
    const path = join(session.sandbox, 'a.txt');
    writeFileSync(path, 'AAAA\n');
    writeFileSync(path, 'aaaa\n');
    utimesSync(path, OLD, OLD);
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', changes: [] });
    expectCaptured(session);
  });
});
