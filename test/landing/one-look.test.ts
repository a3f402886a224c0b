/** An acceptance looks where the sandbox is before it plans, and before it removes it: not in each function anew. */
import { expect, test, vi } from 'vitest';
import { acceptSession } from '../../src/landing/accept.ts';
import { sandboxPlace } from '../../src/session/sandbox-place.ts';
import { openSession } from '../harness/opened.ts';
import { makeSession } from '../harness/session.ts';
import { git, write } from '../harness/world.ts';

vi.mock('../../src/session/sandbox-place.ts', { spy: true });

const REQUEST = {
  text: 'take it',
  summary: undefined,
  onto: undefined,
  edit: false,
  keepCommits: false,
  commits: [],
  include: [],
  exclude: [],
  committedOnly: false,
  untracked: 'all',
  askUntracked: undefined,
  withFailed: false,
  verify: true,
  waitMs: 0,
  dryRun: false,
} as const;

test.each([{ keep: true }, { keep: false }])(
  'an accept asks for the place of the sandbox at most twice: %o',
  async ({ keep }) => {
    const test = makeSession({ f: 'a\n' });
    write(`${test.sandbox}/f`, 'b\n');
    const session = openSession(test);
    const looks = () =>
      vi.mocked(sandboxPlace).mock.calls.filter(([, record]) => record.sandbox === session.record.sandbox);
    vi.mocked(sandboxPlace).mockClear();
    const cwd = process.cwd();
    try {
      await acceptSession(session, { ...REQUEST, keep, now: new Date() });
    } finally {
      process.chdir(cwd);
    }
    expect(git(test.repository, 'show', 'main:f')).toBe('b');
    expect(looks().length).toBeGreaterThan(0);
    expect(looks().length).toBeLessThanOrEqual(2);
  },
);
