import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agtOk, git, write } from '../harness/world.ts';

describe('agt status', () => {
  test('shows each session, its changes since the last autocommit, the settings and the problems', () => {
    const { repository, sandbox } = makeSession();
    agtOk(repository, 'autocommit', '--session-id', 's1');
    write(join(sandbox, 'new.txt'), 'x\n');
    git(repository, 'update-ref', '-d', 'refs/heads/agtsessions/s1');
    const text = agtOk(repository, 'status');
    expect(text).toContain('1 session\n');
    expect(text).toMatch(/^ID {2}STATE .* UNSAVED .*\ns1 {2}active {7}\+0 {6}1 {8}1 /m);
    expect(text).toContain('1 problem\n  error: s1: agtsessions/s1 is missing\n');
    const report = JSON.parse(agtOk(repository, 'status', '--json'));
    expect(report.sessions[0]).toMatchObject({ session_id: 's1', changed_since: 1 });
    expect(report.findings).toHaveLength(1);
  });
});
