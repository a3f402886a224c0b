/** A HOME in which agents are installed, and the hooks of agt there. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { AGT, makeTempDir, type Outcome, run, write } from '../harness/world.ts';

const PROGRAMS = [
  'claude',
  'codex',
  'opencode',
  'gemini',
  'qwen',
  'pi',
  'copilot',
  'cline',
  'kilo',
  'droid',
  'amp',
  'crush',
  'cursor-agent',
];

/** A HOME of its own, and a PATH with agents that do nothing. */
export class Home {
  readonly dir = makeTempDir('home');
  readonly bin = makeTempDir('bin');

  constructor(programs = PROGRAMS) {
    for (const program of programs) write(join(this.bin, program), '#!/bin/sh\n', 0o755);
  }

  agt(...args: string[]): Outcome {
    return this.in(this.dir, ...args);
  }

  in(cwd: string, ...args: string[]): Outcome {
    const env = { HOME: this.dir, PATH: `${this.bin}:${process.env['PATH']}` };
    return run(AGT, ['hooks', ...args], { cwd, env });
  }

  ok(...args: string[]): string {
    const outcome = this.agt(...args);
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    return outcome.stdout;
  }

  /** Every file and directory, with rights, link and content. */
  content(): string {
    const script =
      "find . -printf '%p %y %m %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0r sha256sum";
    return spawnSync('sh', ['-c', script], { cwd: this.dir, encoding: 'utf8' }).stdout;
  }
}

/** Hooks call a script that starts agt only when it is needed. */
export const frontOf = ({ dir }: Home) => join(dir, '.local/state/agt/hooks/agt');
