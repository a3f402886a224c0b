/** Whatever happens to a session folder, an incremental scan finds the same as a full one, and leaves the same cache. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contents, found, ScannedFolder } from '../../harness/scan.ts';
import { run } from '../../harness/world.ts';

/** Few names, so that one step meets what another one has left. */
const NAMES = ['a', 'b', '.GIT', '.git', 'x.o', '\xff'];
const path = fc
  .tuple(
    fc.constantFrom('sandbox', 'xdg', 'config'),
    fc.array(fc.constantFrom(...NAMES), { minLength: 0, maxLength: 3 }),
  )
  .map(([top, names]) => [top, ...names].join('/'));

interface Change {
  readonly action: string;
  readonly path: string;
  /** The target of a rename or a link. */
  readonly to?: string;
}
type Step = Change | { readonly action: 'tick' | 'scan' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    action: fc.constantFrom('write', 'append', 'change and set the time back', 'make a directory', 'remove'),
    path,
  }),
  fc.record({ action: fc.constantFrom('make private', 'set the time back', 'make a pipe', 'ignore'), path }),
  fc.record({ action: fc.constantFrom('rename', 'link'), path, to: path }),
  fc.record({ action: fc.constantFrom('tick', 'scan') }),
);

/** Bytes of a path, as the file system takes them. */
const bytes = (name: string) => Buffer.from(name, 'latin1');

/** Does nothing if the folder does not allow it. */
function change(folder: string, step: Change): void {
  const file = bytes(`${folder}/${step.path}`);
  const isFile = existsSync(file) && lstatSync(file).isFile();
  const isPipe = existsSync(file) && statSync(file).isFIFO(); // a write to it would wait for a reader
  const makeParent = () => mkdirSync(bytes(dirname(`${folder}/${step.path}`)), { recursive: true });
  switch (step.action) {
    case 'write':
      makeParent();
      if (!isPipe) writeFileSync(file, `${step.path}\n`);
      break;
    case 'append':
      if (isFile) appendFileSync(file, 'x'.repeat(400));
      break;
    case 'change and set the time back':
      if (!existsSync(file) || isPipe) break;
      if (isFile) writeFileSync(file, `${step.path}!`);
      else writeFileSync(Buffer.concat([file, bytes('/new')]), 'new\n');
      utimesSync(file, 1000, 1000);
      break;
    case 'make a directory':
      mkdirSync(file, { recursive: true });
      break;
    case 'make a pipe':
      makeParent();
      run('mkfifo', [step.path], { cwd: folder });
      break;
    case 'remove':
      rmSync(file, { recursive: true, force: true });
      break;
    case 'make private':
      if (existsSync(file)) chmodSync(file, lstatSync(file).isDirectory() ? 0o700 : 0o600);
      break;
    case 'set the time back':
      if (existsSync(file)) utimesSync(file, 1000, 1000);
      break;
    case 'ignore':
      writeFileSync(`${folder}/.agtignore`, step.path.includes('a') ? 'a\n' : '*.o\n');
      break;
    case 'rename':
      renameSync(file, bytes(`${folder}/${step.to}`));
      break;
    case 'link':
      makeParent();
      symlinkSync(bytes(`${folder}/${step.to}`), file);
      break;
  }
}

function tryChange(folder: string, step: Change): void {
  try {
    change(folder, step);
  } catch (error) {
    // such as a directory in the place of a file, or the other way round
    if (!(error instanceof Error && 'errno' in error)) throw error;
  }
}

async function expectSameScans(session: ScannedFolder): Promise<void> {
  const full = await session.full();
  const incremental = await session.incremental();
  expect(found(incremental)).toEqual(found(full));
  expect(contents(session.cache)).toEqual(contents(full.cache));
}

test('an incremental scan finds the same as a full one', { timeout: 300_000 }, async () => {
  const steps = fc.array(step, { minLength: 5, maxLength: 60, size: 'max' });
  const property = fc.asyncProperty(steps, async (all) => {
    const session = new ScannedFolder();
    for (const one of all) {
      if ('path' in one) tryChange(session.folder, one);
      else if (one.action === 'tick') await session.tick();
      else await expectSameScans(session);
    }
    await expectSameScans(session);
    await session.tick();
    // The second one sees that nothing is racy any more, and the third one that nothing is new.
    await expectSameScans(session);
    expect((await session.incremental()).cache).toBeUndefined();
    rmSync(session.folder, { recursive: true });
  });
  await fc.assert(property, { numRuns: Number(process.env['AGT_TEST_SCANS'] ?? 150) });
});
