/** The front, with notes of when it starts agt. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { frontText } from '../../src/agtmode/front/front-text.ts';
import { INTEGRATIONS } from '../../src/integrations/tools.ts';
import { AGT, makeTempDir, type Outcome, run, write } from './world.ts';

export const SHELLS = ['dash', 'bash', 'busybox'].flatMap((name) => {
  const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
  return path === '' ? [] : [{ name, interpreter: name === 'busybox' ? `${path} ash` : path }];
});

const STARTED = 'agt is started';

/** Fronts that say that they would start agt, and end. */
export class Front {
  private readonly directory = makeTempDir('front');

  constructor() {
    const text = frontText({ agt: AGT, integrations: INTEGRATIONS });
    for (const { name, interpreter } of SHELLS) {
      const script = text.replace('#!/bin/sh', `#!${interpreter}`);
      write(join(this.directory, 'real', name), script, 0o755);
      const asking = script
        .replaceAll('exec "$agt_full"', `cat >/dev/null; echo '${STARTED}'; exit; exec "$agt_full"`)
        .replace('| "$agt_full"', `| cat >/dev/null; echo '${STARTED}'; exit; "$agt_full"`);
      write(join(this.directory, name), asking, 0o755);
    }
  }

  /** Whether it would start agt. All shells have to agree, or so many of them. */
  starts(
    cwd: string,
    args: readonly string[] = ['autocommit'],
    settings: Settings = {},
    count = SHELLS.length,
  ): boolean {
    const answers = SHELLS.slice(0, count).map(({ name }) =>
      run(join(this.directory, name), args, { cwd, ...settings }),
    );
    const started = answers.map(({ stdout }) => stdout === `${STARTED}\n`);
    for (const [i, { exitCode, stdout, stderr }] of answers.entries()) {
      const isWell = exitCode === 0 && stderr === '' && (started[i] === true || !stdout.includes(STARTED));
      if (!isWell || started[i] !== started[0])
        throw new Error(`${SHELLS.map(({ name }) => name).join()}: ${JSON.stringify(answers)}`);
    }
    return started[0] === true;
  }

  /** Whether one shell would start agt. */
  startsIn(shell: string, cwd: string): boolean {
    return run(join(this.directory, shell), ['autocommit'], { cwd }).stdout === `${STARTED}\n`;
  }

  /** The same for a tool of an agent in `cwd`. */
  startsForTool(cwd: string, count = SHELLS.length): boolean {
    return this.starts(cwd, ['hook', 'claude-code'], { input: toolEvent(cwd) }, count);
  }

  /** The path of one that says that it would start agt. */
  script(): string {
    return join(this.directory, SHELLS[0]?.name ?? '');
  }

  /** As an agent calls it. */
  run(cwd: string, args: readonly string[], settings: Settings = {}, shell = SHELLS[0]?.name ?? ''): Outcome {
    return run(join(this.directory, 'real', shell), args, { cwd, ...settings });
  }

  /** Captures until the front knows that nothing has changed: files of the clock's last tick are newer than a scan. */
  settle(cwd: string, starts = () => this.startsForTool(cwd, 1)): void {
    for (let attempt = 0; attempt < 20; attempt++) {
      const { exitCode, stderr } = run(AGT, ['autocommit'], { cwd });
      if (exitCode !== 0) throw new Error(stderr);
      if (!starts()) return;
    }
    throw new Error('the front starts agt again and again');
  }
}

/** The event of Claude Code after a tool. */
export function toolEvent(cwd: string, fields: object = {}): string {
  const about = { session_id: 'c1', transcript_path: '/t', cwd, hook_event_name: 'PostToolUse' };
  return JSON.stringify({ ...about, tool_name: 'Bash', tool_input: { command: 'ls' }, ...fields });
}

type Settings = Partial<Parameters<typeof run>[2]>;

/** A PATH with some programs alone. */
export function pathWith(programs: Readonly<Record<string, string>>): string {
  const directory = makeTempDir('path');
  for (const [name, script] of Object.entries(programs)) write(join(directory, name), script, 0o755);
  return directory;
}
