/** Where the working copy cow-overlay works, agt names it, and the fence is not in its way. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, makeTempDir, run, write } from '../harness/world.ts';
import { problem } from './overlay.ts';

test.skipIf(problem !== undefined)(
  'agt run of an agent, agt hooks status and the fence name it; inside, the fence is not in the way',
  () => {
    const { repository, sandbox } = makeSession({ x: 'x\n' });
    const [home, bin] = [makeTempDir('home'), makeTempDir('bin')];
    write(join(bin, 'claude'), '#!/bin/sh\n:\n', 0o755);
    const env = { HOME: home, PATH: `${bin}:${process.env['PATH']}` };
    const said = (...args: string[]) => run(AGT, args, { cwd: repository, env }).stderr;
    const offer =
      /hint: to keep all its commands from your checkout: agt run --new --working-copy cow-overlay/;
    expect(said('run', '--new', '--', 'claude')).toMatch(offer);
    expect(said('run', '--new', '--', 'true')).not.toMatch(offer);
    expect(said('run', '--new', '--working-copy', 'worktree', '--', 'claude')).not.toMatch(offer);
    run(AGT, ['hooks', 'install', 'claude-code'], { cwd: repository, env });
    const status = run(AGT, ['hooks', 'status'], { cwd: repository, env }).stdout;
    expect(status).toContain('can work on a copy: agt run --new --working-copy cow-overlay -- AGENT\n');
    const event = (cwd: string, tool_name: string, tool_input: object) =>
      JSON.stringify({ cwd, hook_event_name: 'PreToolUse', tool_name, tool_use_id: 't', tool_input });
    const write_x = event(sandbox, 'Write', { file_path: join(repository, 'x') });
    const refused = run(AGT, ['hook', 'claude-code'], { cwd: '/', input: write_x }).stdout;
    expect(refused).toContain('agt run --working-copy cow-overlay');

    agtOk(repository, 'session', 'new', '--id', 'cow', '--working-copy', 'cow-overlay', '-q');
    const calls = [
      event(repository, 'Write', { file_path: join(repository, 'x') }),
      event(repository, 'Bash', { command: `rm ${repository}/x` }),
    ].map((text) => `echo '${text}' | ${AGT} hook claude-code`);
    expect(agtOk(repository, 'run', 'cow', '--', 'sh', '-c', calls.join('; '))).toBe('');
    expect(existsSync(join(repository, '.git/agt/strays'))).toBe(false);
    expect(JSON.parse(agtOk(repository, 'status', '--json')).folder).toBe(null);
  },
);
