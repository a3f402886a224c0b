import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommitAt } from '../harness/opened.ts';
import { autocommit, makeSession, onDisk } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { bisect, counted, left } from './bisected.ts';

describe('agt bisect run', () => {
  test('names the step at which the command begins to fail, and what it changed', () => {
    const session = counted(9);
    const { exitCode, answer, stderr } = bisect(
      session.repository,
      ['--session', 's1'],
      'echo out; test $(cat n) -lt 7',
    );
    expect(exitCode).toBe(0);
    expect(answer).toMatchObject({ name: '@{2}', prompt: 'count', tool: 'Edit', summary: 'n is 7' });
    expect(answer).toMatchObject({ exit_code: 1, output: 'out\n', candidates: [answer.commit] });
    expect(answer.files).toMatchObject([{ path: 'n', status: 'modified' }]);
    expect(git(session.repository, 'rev-parse', `${answer.commit}^`)).toBe(answer.last_good);
    expect(stderr).toContain(`@{2} ${answer.commit.slice(0, 10)}: bad, exit code 1\n`);
    expect(left(session)).toEqual(['sessions']);
    const words = ['bisect', 'run', 's1', '-p', '-j', '1', '--', 'sh', '-c', 'test $(cat n) -lt 7'];
    const text = agtOk(session.repository, ...words);
    expect(text).toMatch(
      /^s1: fails from @\{2\} [0-9a-f]{10} on; the last good one is @\{3\} [0-9a-f]{10}\n.* {2}Edit: n is 7\nprompt: count\n {4}M {2}\+1 -1 {2}n\n/,
    );
    expect(text).toContain('\n-6\n+7');
  });

  test('a copy has the files of the snapshot, also ignored ones, and a repository of its own', () => {
    const session = counted(4);
    const strange = Buffer.concat([Buffer.from(session.sandbox), Buffer.from('/\xe9\n\'"', 'latin1')]);
    writeFileSync(strange, 'strange\n');
    write(join(session.sandbox, 'sub/.gitmodules'), 'strange\n');
    autocommit(session);
    write(join(session.sandbox, 'n'), 'bad\n');
    autocommit(session);
    const before = [
      onDisk(session),
      git(session.repository, 'for-each-ref'),
      git(session.sandbox, 'status', '--short'),
    ];
    const log = join(makeTempDir(), 'log');
    const command = [
      'test "$(cat ignored)" = there && test -d ../xdg && pwd >> "$LOG"',
      'test "$(git rev-parse --show-toplevel)" = "$PWD" && git log -1 --format=%s >> "$LOG"',
      'git ls-files --error-unmatch n && test -z "$(git status --short ignored)"',
      'touch new && git add -A && git stash -q && git commit -q --allow-empty -m mine && git branch -q mine',
      'test -f "$(printf "\\351\\n\'\\"")" -a "$(cat sub/.gitmodules)" = strange || test ! -d sub',
      'test "$(git show HEAD:n)" = 0 && ! git show stash@{0}:n | grep -q bad',
    ].join(' && ');
    const outcome = run(AGT, ['bisect', 'run', 's1', '--json', '--', 'sh', '-c', command], {
      cwd: session.repository,
      env: { LOG: log },
    });
    expect(JSON.parse(outcome.stdout)).toMatchObject({ name: '@{0}' });
    const seen = readFileSync(log, 'utf8').split('\n');
    expect(
      seen.filter((line) => line.startsWith(`${session.repository}.agt/probes/`)).length,
    ).toBeGreaterThan(2);
    expect(seen.filter((line) => line.startsWith(session.sandbox))).toEqual([]);
    expect(seen).toContain('first');
    expect([
      onDisk(session),
      git(session.repository, 'for-each-ref'),
      git(session.sandbox, 'status', '--short'),
    ]).toEqual(before);
  });

  test('equals a scan of all snapshots, one probe for each content', () => {
    const session = makeSession({ n: '0\n' });
    const contents = [1, 1, 2, 3, 3, 4, 5, 5, 6];
    for (const [i, n] of contents.entries()) {
      write(join(session.sandbox, 'n'), `${n}\n`);
      autocommit(session, '--label', `step ${i}`);
    }
    const log = join(makeTempDir(), 'log');
    for (const most of [1, 2, 3, 4, 5]) {
      writeFileSync(log, '');
      const command = `cat n >> '${log}'; test $(cat n) -le ${most}`;
      const { answer } = bisect(session.repository, ['--session', 's1', '-j', '1'], command);
      const first = contents.findIndex((n) => n > most);
      expect(answer.name).toBe(`@{${contents.length - 1 - first}}`);
      const asked = readFileSync(log, 'utf8').trim().split('\n');
      expect(new Set(asked).size).toBe(asked.length);
    }
  });

  test('a command finds nothing of the one before it in its copy', () => {
    const session = makeSession({
      n: '0\n',
      'a/b': 'same\n',
      'a/c/d': 'd\n',
      link: 'x\n',
      '.gitignore': 'ignored\n',
    });
    write(join(session.sandbox, 'ignored/deep'), 'there\n');
    mkdirSync(join(session.sandbox, 'empty/nested'), { recursive: true });
    chmodSync(join(session.sandbox, 'a/c'), 0o700);
    autocommit(session);
    for (let n = 1; n < 12; n++) {
      write(join(session.sandbox, 'n'), `${n}\n`);
      if (n === 5) write(join(session.sandbox, 'a/b'), 'else\n');
      if (n === 6) write(join(session.sandbox, 'a/b'), 'same\n');
      autocommit(session);
    }
    const log = join(makeTempDir(), 'log');
    const look = [
      "state() { find .. -mindepth 1 -path ../sandbox/.git -prune -o -type d -printf '%p %m\\n' -o ! -name n ! -name owner -printf '%p %m %s %T@ %l\\n' | sort; cat a/b; git status --short; }",
      `state > '${log}.state'; echo "$(cat n) $(sha1sum < '${log}.state')" >> '${log}'`,
    ];
    const spoilFiles = [
      'printf othe > a/b; printf "\\n" >> a/b; touch -r n a/b; rm -r a/c empty; echo x > a/c; ln -sf n link; chmod +x .gitignore',
      'mkdir -p new/deeper; touch new/deeper/file; chmod 0 new; echo junk > ../xdg/junk; rm -rf .git; mkdir .git',
    ];
    const spoilDirectories = 'chmod 000 ignored; chmod 755 .';
    writeFileSync(log, '');
    for (const commands of [look, [...look, ...spoilFiles], [...look, ...spoilFiles, spoilDirectories]]) {
      const command = [...commands, 'test $(cat n) -lt 8'].join('; ');
      expect(bisect(session.repository, ['--session', 's1', '-j', '1'], command).answer.name).toBe('@{3}');
    }
    const seen = readFileSync(log, 'utf8').trim().split('\n');
    expect(seen.length).toBeGreaterThan(8);
    expect(new Set(seen).size).toBe(seen.length / 3);
  });

  test('runs copies at once', () => {
    const session = counted(3);
    const meeting = makeTempDir();
    const command = `touch '${meeting}'/$$; for i in $(seq 100); do test $(ls '${meeting}' | wc -l) -ge 2 && break; sleep 0.1; done; test $(ls '${meeting}' | wc -l) -ge 2 || exit 255; test $(cat n) -lt 2`;
    expect(bisect(session.repository, ['--session', 's1', '-j', '2'], command).answer.name).toBe('@{1}');
  });

  test('exit codes are those of git bisect run', () => {
    const session = counted(6);
    const at = (options: readonly string[], command: string) => {
      const { exitCode, answer } = bisect(
        session.repository,
        ['--session', 's1', ...options],
        `n=$(cat n); ${command}`,
      );
      return [
        exitCode,
        answer.name ?? answer.error?.replace(/[0-9a-f]{10}/g, 'OID'),
        answer.candidates?.length,
      ];
    };
    expect(at([], 'test $n -lt 4 || exit 127')).toEqual([0, '@{2}', 1]);
    expect(at([], 'test $n = 4 && exit 125; test $n -lt 3')).toEqual([0, '@{3}', 1]);
    expect(at([], 'test $n = 3 && exit 125; test $n -lt 4')).toEqual([2, '@{2}', 2]);
    expect(at([], 'test $n = 3 && exit 128; test $n -lt 4')).toEqual([
      1,
      'the command ended with 128 at @{3} OID: from 128 on that stops a bisect',
      undefined,
    ]);
    expect(at(['-j', '1'], 'test $n = 3 && kill -9 $$; test $n -lt 4')[1]).toMatch(
      /ended with 137 at @\{3\}/,
    );
    expect(at([], 'true')).toEqual([1, 'the command passes at @{0} OID', undefined]);
    expect(at([], 'echo why; false')).toEqual([1, 'the command fails at @{6} OID', undefined]);
    expect(at(['--from', '@{4}', '--to', '@{1}'], 'test $n -lt 4')).toEqual([0, '@{2}', 1]);
    expect(at(['--from', '@{1}'], 'test $n -lt 4')).toEqual([1, 'the command fails at @{1} OID', undefined]);
    expect(at(['--to', '@{4}'], 'test $n -lt 4')).toEqual([1, 'the command passes at @{4} OID', undefined]);
    expect(at(['--from', '@{0}'], 'true')[1]).toBe('there is no snapshot between @{0} OID and @{0} OID');
    expect(at(['-j', '0'], 'true')).toEqual([2, '"0" is no number of copies', undefined]);
    expect(bisect(session.repository, ['--session', 's1'], 'echo why; false').answer.hints?.[1]).toContain(
      'why',
    );
    expect(agt(session.repository, 'bisect', 'run', 's1').stderr).toMatch(/^error: no command given/);
    expect(left(session)).toEqual(['sessions']);
  });

  test('begins at the start commit if the first snapshot fails already', () => {
    const session = makeSession({ n: 'good\n' });
    write(join(session.sandbox, 'n'), 'bad\n');
    autocommit(session);
    const { answer } = bisect(
      session.repository,
      ['--session', 's1'],
      'grep -q good n && git diff-files --quiet',
    );
    expect(answer).toMatchObject({ name: '@{0}', last_good: git(session.repository, 'rev-parse', 'main') });
  });

  test('no file is older than what was built from it', async () => {
    const session = makeSession({ source: '1\n', '.gitignore': 'built\n' });
    write(join(session.sandbox, 'built'), '1\n');
    await autocommitAt(session, new Date(1_700_000_000_000));
    write(join(session.sandbox, 'source'), '2\n');
    await autocommitAt(session, new Date(1_700_000_100_000));
    write(join(session.sandbox, 'built'), '2\n');
    await autocommitAt(session, new Date(1_700_000_200_000));
    const { answer } = bisect(
      session.repository,
      ['--session', 's1'],
      'test ! source -nt built; a=$?; test ! built -nt source; b=$?; test "$a$b" != 10',
    );
    expect(answer.error).toContain('passes at @{0}');
    expect(
      bisect(session.repository, ['--session', 's1', '--to', '@{1}'], 'test ! source -nt built').answer.name,
    ).toBe('@{1}');
  });

  test('the snapshots of a folder, with and without git', () => {
    for (const folder of [makeTempDir(), makeRepository({ n: '0\n' })]) {
      for (const n of [1, 2, 3]) {
        write(join(folder, 'n'), `${n}\n`);
        agtOk(folder, 'snapshot');
      }
      const isIn = existsSync(join(folder, '.git')) ? 'git show HEAD:n' : '! git rev-parse --git-dir';
      const { stderr } = agt(folder, 'bisect', 'run', '--', 'false');
      expect(stderr.match(/@\{\d\} .*: bad/g)?.length).toBe(2);
      const { answer } = bisect(folder, [], `${isIn} && test $(cat n) -lt 3`);
      expect(answer).toMatchObject({ name: '@{0}', folder, session_id: null });
      expect(agtOk(folder, 'undo', '--to-green', 'test $(cat n) -lt 3')).toContain(
        'restored 1 path, verified',
      );
      expect(readFileSync(join(folder, 'n'), 'utf8')).toBe('2\n');
      agtOk(folder, 'redo');
      expect(readFileSync(join(folder, 'n'), 'utf8')).toBe('3\n');
    }
  });

  test("other words are git's own bisect", () => {
    const repository = makeRepository();
    agtOk(repository, 'bisect', 'start');
    expect(existsSync(join(repository, '.git/BISECT_START'))).toBe(true);
    agtOk(repository, 'bisect', 'reset');
    expect(agtOk(repository, 'bisect', '--help')).toContain('agt bisect run');
  });
});
