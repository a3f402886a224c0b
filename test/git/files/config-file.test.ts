import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseGitConfig } from '../../../src/git/files/config-file.ts';
import { git, makeTempDir, REAL_GIT, run } from '../../harness/world.ts';

const dir = makeTempDir('config');

const READABLE = [
  '[agt]\n\tagentEmail = a@b\n',
  '[AGT] AgentEmail=a@b ; comment\n# another\n[agt]\nworkPrefix = "x y/" # tail\n',
  '[remote "Or\\"ig\\\\in"]\n\turl = a   b  \n\tfetch = "quoted "tail\n',
  '[a.b]\nkey\nother =\n',
  '[a]\nk = one\\\ntwo \\\n  three\nt = a\\tb\\nc\\\\\n',
  '\uFEFF[a]\r\nk = v\r\n',
  '[a "x"] k = 1\n[a "X"] k = 2\n',
  '',
];

const UNREADABLE = ['[a\nk = v\n', '[a]\nk = "open\n', '[a]\nk = \\x\n', '[a]\n9k = v\n'];

describe('agt reads git-config syntax as git does', () => {
  test.each(READABLE)('%j', (text) => {
    const file = join(dir, 'readable');
    writeFileSync(file, text);
    const listed = git(dir, 'config', '-f', file, '--list', '-z');
    const expected = listed.split('\0').filter((entry) => entry !== '');
    // git lists a key without "=" without a value; agt gives it the value "true", which it means
    const mine = parseGitConfig(text).map(({ key, value }) => `${key}\n${value}`);
    expect(mine).toEqual(expected.map((entry) => (entry.includes('\n') ? entry : `${entry}\ntrue`)));
  });

  test.each(UNREADABLE)('and refuses %j', (text) => {
    const file = join(dir, 'unreadable');
    writeFileSync(file, text);
    expect(run(REAL_GIT, ['config', '-f', file, '--list'], { cwd: dir }).exitCode).not.toBe(0);
    expect(() => parseGitConfig(text)).toThrow(SyntaxError);
  });
});
