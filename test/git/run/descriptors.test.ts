/** A child of git has the descriptors above 2 that the caller gave to git mode, and none of Node's. */
import { beforeAll, describe, expect, test } from 'vitest';
import { git, makeRepository } from '../../harness/world.ts';
import { shell } from './shell.ts';

let project: string;
beforeAll(() => {
  project = makeRepository();
  git(project, 'branch', 'agt/s1');
});

describe('descriptors above 2', () => {
  const open = '-c alias.t="!ls /proc/self/fd" t';

  test('a child of git has those of the caller, and none of Node', () => {
    const body = (name: string) => `
      exec 10>&- # some programs that run tests leave one
      "$${name}" ${open}
      "$${name}" ${open} 9>file
      "$${name}" -c alias.t='!echo to; echo three >&3; echo nine >&9' t 3>three 9>nine 12<>file
      cat three nine; rm -f file three nine`;
    expect(shell(body('GIT'), project).stdout).toBe(shell(body('REAL'), project).stdout);
  });

  test.each(['', 'os.set_blocking(read, False); '])(
    'both ends of a pipe, as of a jobserver: %s',
    (nonblocking) => {
      const python = `import os, subprocess, sys
read, write = os.pipe()
os.dup2(read, 7); os.dup2(write, 8); ${nonblocking}os.write(8, b"++")
subprocess.run([sys.argv[1], "-c", "alias.t=!head -c2 <&7; ls /proc/self/fd", "t"], pass_fds=(7, 8))`;
      const body = (name: string) => `python3 -c '${python}' "$${name}"`;
      const real = shell(body('REAL'), project);
      expect(real.stdout).toMatch(/^\+\+/);
      expect(shell(body('GIT'), project)).toEqual(real);
    },
  );

  test('GIT_TRACE=9, with output that agt filters too; a program in the background keeps a pipe open', () => {
    const body = (name: string) => `
      GIT_TRACE=9 "$${name}" log -1 --format=%s --all 9>trace && grep -c 'built-in: git log' trace
      x=$("$${name}" -c alias.t='!(sleep 0.2; echo late >&9) >/dev/null &' t 9>&1) && echo "$x"
      (sleep 0.2; exec "$${name}" log) 9>trace | true; echo "\${PIPESTATUS[0]}"
      "$${name}" -c alias.t='!kill -KILL $PPID' t 9>trace; echo $?; rm -f trace`;
    const real = shell(body('REAL'), project);
    expect(real.stdout).toBe('first\n1\nlate\n141\n137\n');
    expect(shell(body('GIT'), project).stdout).toBe(real.stdout);
  });
});

test('a list that agt prints itself: a full disk, and a reader that is gone', () => {
  const sandboxed = makeRepository();
  git(sandboxed, 'worktree', 'add', '-q', '-b', 'agt/s1', '../sandbox');
  const body = (name: string) => `"$${name}" worktree list >/dev/full; echo "$?"
    (sleep 0.2; exec "$${name}" worktree list) | true; echo "\${PIPESTATUS[0]}"`;
  const got = shell(body('GIT'), sandboxed);
  expect(got).toEqual(shell(body('REAL'), sandboxed));
  expect(got.stdout).toBe('128\n141\n');
});
