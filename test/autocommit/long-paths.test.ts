/** Paths longer than the system takes in one piece: captured, looked at again, brought back, removed. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { agtOk, git, run } from '../harness/world.ts';

/** 4,200 bytes and more below the session folder: names as long as they can be, and as many as fit. */
const SHAPES = [
  ['names of 255 bytes', Array.from({ length: 17 }, (_, n) => String.fromCharCode(97 + n).repeat(255))],
  ['1,400 directories in one another', Array.from({ length: 1400 }, (_, n) => `d${n % 10}`)],
] as const;

/** Runs JavaScript at the end of `names` below `start`, step by step, as no path leads there. */
function deep(start: string, names: readonly string[], script: string): string {
  const program = `
    const fs = require('node:fs');
    process.chdir(process.argv[1]);
    for (const name of process.argv.slice(2)) { fs.mkdirSync(name, { recursive: true }); process.chdir(name); }
    ${script}`;
  const outcome = run(process.execPath, ['-e', program, start, ...names], { cwd: start });
  expect(outcome.stderr).toBe('');
  return outcome.stdout;
}

const WRITE = `
  fs.writeFileSync('file', 'deep\\n');
  fs.writeFileSync('program', '#!/bin/sh\\n', { mode: 0o755 });
  fs.symlinkSync('file', 'link');`;
const READ = `console.log(fs.readdirSync('.').sort().map((name) => {
    const stat = fs.lstatSync(name);
    return [name, (stat.mode & 0o777).toString(8), stat.isSymbolicLink() ? fs.readlinkSync(name) : fs.readFileSync(name, 'utf8')].join(' ');
  }).join(''));`;
const WRITTEN = 'file 644 deep\nlink 777 fileprogram 755 #!/bin/sh\n\n';

test.each(ofToday(SHAPES))('%s', (_, names) => {
  const session = makeSession();
  const { sandbox, repository } = session;
  autocommit(session, '--label', 'before');
  deep(sandbox, names, WRITE);
  const path = `sandbox/${names.join('/')}`;
  expect(path.length).toBeGreaterThan(4200);
  const report = autocommit(session, '--label', 'deep');
  expect([report.failed, report.changes.map((change) => change.path)]).toEqual([
    [],
    [`${path}/file`, `${path}/link`, `${path}/program`],
  ]);
  expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', failed: [] });
  expect(agtOk(repository, 'session', 'cat', 's1', `@{0}:${names.join('/')}/file`)).toBe('deep');

  deep(sandbox, names, `fs.writeFileSync('file', 'else\\n'); fs.unlinkSync('link');`);
  expect(autocommit(session).changes.map(({ status }) => status)).toEqual(['modified', 'deleted']);
  agtOk(repository, 'session', 'restore', 's1', '--to', 'deep');
  expect(deep(sandbox, names, READ)).toBe(WRITTEN);
  agtOk(repository, 'session', 'restore', 's1', '--to', 'before');
  expect(existsSync(join(sandbox, names[0] as string))).toBe(false);
  agtOk(repository, 'session', 'undo', 's1');
  expect(deep(sandbox, names, READ)).toBe(WRITTEN);

  const fork = JSON.parse(agtOk(repository, 'session', 'fork', '--from', 's1', '--id', 's2', '--json'));
  expect(deep(fork.sandbox, names, READ)).toBe(WRITTEN);
  for (const id of ['s1', 's2']) agtOk(repository, 'session', 'remove', id);
  expect(existsSync(session.folder)).toBe(false);
  agtOk(repository, 'session', 'restore', 's1', '--to', '@{0}');
  expect(deep(sandbox, names, READ)).toBe(WRITTEN);
  git(repository, 'fsck', '--strict');
});

test('a directory that becomes a link is not followed', () => {
  const session: TestSession = makeSession();
  const [, names] = SHAPES[0];
  autocommit(session);
  deep(session.sandbox, names, WRITE);
  autocommit(session);
  const elsewhere = join(session.repository, '../elsewhere');
  mkdirSync(elsewhere);
  deep(
    session.sandbox,
    names.slice(0, 15),
    `fs.renameSync('${names[15]}', '${elsewhere}/moved'); fs.symlinkSync('${elsewhere}/moved', '${names[15]}');`,
  );
  const { changes, failed } = autocommit(session);
  expect(failed).toEqual([]);
  expect(changes.map(({ status }) => status).sort()).toEqual(['added', 'deleted', 'deleted', 'deleted']);
});
