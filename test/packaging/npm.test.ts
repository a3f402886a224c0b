/** The program `agt` of the npm package: it starts the executable of the optional package, if npm has installed that. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir, type Outcome, run } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');
/** As a Node that cannot become another program. */
const OLDER_NODE = ['--import', 'data:text/javascript,delete process.execve'];

/** As npm lays the packages out. */
function installed(executable?: string): string {
  const modules = join(makeTempDir(), 'node_modules');
  cpSync(join(root, 'bin'), join(modules, 'agt/bin'), { recursive: true });
  cpSync(join(root, 'package.json'), join(modules, 'agt/package.json'));
  if (executable !== undefined) {
    const directory = join(modules, `@agt/${process.platform}-${process.arch}`);
    mkdirSync(join(directory, 'bin'), { recursive: true });
    writeFileSync(join(directory, 'package.json'), '{}');
    writeFileSync(join(directory, 'bin/agt'), executable, { mode: 0o755 });
  }
  return join(modules, 'agt/bin/agt');
}

function start(program: string, node: readonly string[], ...words: string[]): Outcome {
  return run(process.execPath, [...node, program, ...words], { cwd: root, input: 'input' });
}

const TELLS = '#!/bin/sh\nread -r line || :\necho "$line $#: $*"\nexit 3\n';

test.each([[[]], [OLDER_NODE]])('words, input and exit code are the executable’s (node %j)', (node) => {
  const done = start(installed(TELLS), node, 'session', 'a b');
  expect(done).toEqual({ exitCode: 3, stdout: 'input 2: session a b\n', stderr: '' });
});

test('a signal that ends the executable ends the program', () => {
  const done = start(installed('#!/bin/sh\nkill -9 $$\n'), OLDER_NODE);
  expect(done.exitCode).toBe(null);
});

test('without the executable and without bundles, it says what is missing', () => {
  const done = start(installed(), []);
  expect(done).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('agt has not been bundled yet'),
  });
});

test('on Windows: one line', () => {
  const windows = "Object.defineProperty(process,'platform',{value:'win32'})";
  const done = start(installed(TELLS), ['--import', `data:text/javascript,${windows}`]);
  expect(done).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: agt does not run on Windows yet, but it works in WSL: install it there\n',
  });
});
