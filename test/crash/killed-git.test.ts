/**
 * Each git that a command starts, killed together with agt before one of its writes: the same command again does its
 * work. AGT_TEST_STEPS chooses how many writes of a command, or `all`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { NO_STRACE, straceWorks } from '../harness/strace.ts';
import { makeTempDir, REAL_GIT, write } from '../harness/world.ts';
import { attack, doctorMends, Stage, storeIsWhole } from './aftermath.ts';
import { sameCommandWorks } from './every-step.ts';
import { LANDING_SCENES } from './landing-scenes.ts';
import { SCENES, type Scene } from './scenes.ts';

const PROGRAM = [process.execPath, join(import.meta.dirname, '../../dist/main.cjs')];
const WRITES = ['mkdir', 'rmdir', 'rename', 'link', 'unlink', 'write', 'pwrite64'];
const STEPS = process.env['AGT_TEST_STEPS'] ?? '3';

/** Before the call `nth` of `name` by the git that agt starts as number `git`. */
interface Position {
  readonly git: number;
  readonly name: string;
  readonly nth: number;
}

/** A program named git, which starts the real one under strace. */
class KillingGit {
  private readonly dir = makeTempDir('killing-git');

  constructor() {
    const script = `#!/bin/sh
n=$(( $(cat "$AGT_TEST_DIR/count" 2>/dev/null || echo 0) + 1 ))
echo $n >"$AGT_TEST_DIR/count"
if [ "$AGT_TEST_GIT" = all ]; then exec strace -qq -o "$AGT_TEST_DIR/calls.$n" -e trace=${WRITES.join()} ${REAL_GIT} "$@"; fi
if [ $n -ne "$AGT_TEST_GIT" ]; then exec ${REAL_GIT} "$@"; fi
strace -qq -o /dev/null -e trace=$AGT_TEST_CALL -e inject=$AGT_TEST_CALL:signal=KILL:when=$AGT_TEST_NTH ${REAL_GIT} "$@"
code=$?
if [ $code -eq 137 ]; then kill -9 $PPID; fi
exit $code
`;
    write(join(this.dir, 'git'), script, 0o755);
  }

  env(git: string, { name, nth }: Partial<Position> = {}): Record<string, string> {
    rmSync(this.records, { recursive: true, force: true });
    mkdirSync(this.records);
    return {
      PATH: `${this.dir}:${process.env['PATH']}`,
      AGT_GIT_PATH: join(this.dir, 'git'),
      AGT_TEST_DIR: this.records,
      AGT_TEST_GIT: git,
      AGT_TEST_CALL: `${name}`,
      AGT_TEST_NTH: `${nth}`,
    };
  }

  /** All that the last run passed. */
  positions(): Position[] {
    const found: Position[] = [];
    for (let git = 1; existsSync(this.calls(git)); git++) {
      const seen = new Map<string, number>();
      for (const [, name = ''] of readFileSync(this.calls(git), 'latin1').matchAll(/^(\w+)\(/gm)) {
        const nth = (seen.get(name) ?? 0) + 1;
        seen.set(name, nth);
        found.push({ git, name, nth });
      }
    }
    return found;
  }

  private get records(): string {
    return join(this.dir, 'records');
  }

  private calls(git: number): string {
    return join(this.records, `calls.${git}`);
  }
}

/** `count` of them, evenly spread. */
function chosen(positions: readonly Position[]): readonly Position[] {
  const count = STEPS === 'all' ? positions.length : Math.min(Number(STEPS), positions.length);
  return Array.from({ length: count }, (_, n) => {
    const middle = Math.floor(((n + 0.5) * positions.length) / count);
    return positions[middle] as Position;
  });
}

beforeEach(({ skip }) => skip(!straceWorks, NO_STRACE));

test.each<Scene>([...SCENES, ...LANDING_SCENES])('$name', { timeout: 3_600_000 }, async (scene) => {
  const stage = new Stage(scene);
  const { place } = stage;
  const git = new KillingGit();
  stage.reset();
  expect(await attack(place, scene.command, { program: PROGRAM, env: git.env('all') })).toBe(null);
  const positions = chosen(git.positions());
  let killed = 0;
  for (const position of positions) {
    stage.reset();
    const env = git.env(`${position.git}`, position);
    if ((await attack(place, scene.command, { program: PROGRAM, env })) === 'SIGKILL') killed++;
    try {
      sameCommandWorks(place, scene.command);
      storeIsWhole(place);
      doctorMends(place);
      scene.check(place);
      storeIsWhole(place);
    } catch (error) {
      const { git: number, name, nth } = position;
      throw new Error(`killed before ${name} ${nth} of git ${number}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  console.log(`${killed} of ${positions.length} kills of gits of agt ${scene.command.join(' ')}`);
  expect(killed).toBeGreaterThan(0);
});
