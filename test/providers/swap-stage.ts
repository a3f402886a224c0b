/** A session on btrfs with as many files as it takes for a restore by swap. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { aloneProblem, tryAlone } from '../harness/alone.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { sessionOf, type TestSession } from '../harness/session.ts';
import { agtOk, makeRepositoryAt, makeTempDir } from '../harness/world.ts';

export const swapProblem = btrfsProblem() ?? aloneProblem();

/** The title of a describe block; with the reason if it is skipped. */
export const TITLE = `btrfs${swapProblem === undefined ? '' : ` (${swapProblem})`}`;

/** More than a restore writes one by one. */
export const FILES = 5100;

export function fill(directory: string, content: string, files: number): void {
  for (let n = 0; n < files; n++) {
    const parent = join(directory, `d${n % 20}`);
    if (n < 20) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `f${n}`), `${content} ${n}\n`);
  }
}

export class SwapStage {
  disk!: Disk;
  repository!: string;
  session!: TestSession;

  /** To be called in a describe block, whose tests share the stage. */
  constructor() {
    beforeAll(() => {
      this.disk = mountBtrfs();
      process.env['XDG_STATE_HOME'] = makeTempDir('state');
      const files = {
        'a.txt': 'a\n',
        'b.txt': 'b\n',
        'src/c': 'c\n',
        'src/d': 'd\n',
        '.gitignore': 'modules\n',
      };
      this.repository = makeRepositoryAt(join(this.disk.path, 'project'), files);
      agtOk(this.repository, 'session', 'new', 's1');
      this.session = sessionOf(this.repository, 's1');
    });
    afterAll(() => {
      delete process.env['XDG_STATE_HOME'];
      this.disk.unmount();
    });
  }

  /** A directory of the sandbox. */
  get modules(): string {
    return join(this.session.sandbox, 'modules');
  }

  removeModules(): void {
    rmSync(this.modules, { recursive: true, force: true });
  }

  /** Whether the session folder is another one afterwards: another subvolume. */
  isSwapped(restore: () => void): boolean {
    const device = () => statSync(this.session.folder).dev;
    const before = device();
    restore();
    return device() !== before;
  }

  findings(): unknown {
    return JSON.parse(agtOk(this.repository, 'doctor', '--json')).findings;
  }

  inTestBuild(...args: string[]): void {
    const { exitCode, stderr } = tryAlone(this.repository, args);
    expect([args, exitCode, stderr]).toEqual([args, 0, '']);
  }
}
