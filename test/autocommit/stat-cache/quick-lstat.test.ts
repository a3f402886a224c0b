/** The C library's lstat says what Node's says, of whatever there may be; where one refuses, so does the other. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Lstat, plainLstat, quickLstat } from '../../../src/autocommit/stat-cache/quick-lstat.ts';
import { COLUMNS, type StatData } from '../../../src/autocommit/stat-cache/scan-table.ts';
import { makeTempDir, run } from '../../harness/world.ts';

const before = process.cwd();
let folder: string;

beforeEach(() => {
  folder = makeTempDir('lstat');
});

afterEach(() => {
  process.chdir(before);
});

/** As it is called: a name in the middle of others, after a prefix. */
function look(lstat: Lstat, prefix: string, name: string | Buffer): StatData | undefined | string {
  const bytes = Buffer.from(name as string);
  const names = Buffer.concat([Buffer.from('before\0'), bytes, Buffer.from('\0after\0')]);
  lstat.enter(prefix);
  try {
    const told = lstat.look(names, 7, 7 + bytes.length);
    return told && fieldsOf(told);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code as string;
  }
}

function fieldsOf(stat: StatData): StatData {
  return Object.fromEntries(COLUMNS.map((column) => [column, stat[column]])) as unknown as StatData;
}

describe.each([
  ['by the C library', quickLstat],
  ['by Node', plainLstat],
])('%s', (_, make) => {
  function begin(skip: (condition: boolean, why: string) => void): Lstat {
    const lstat = make();
    skip(lstat === undefined, 'there is no node:ffi here, or no lstat');
    return lstat as Lstat;
  }

  test('kinds, modes, sizes', ({ skip }) => {
    const lstat = begin(skip);
    writeFileSync(`${folder}/file`, 'text\n');
    chmodSync(`${folder}/file`, 0o4751);
    writeFileSync(`${folder}/huge`, '');
    truncateSync(`${folder}/huge`, 5_000_000_123);
    mkdirSync(`${folder}/d`);
    symlinkSync('nowhere', `${folder}/link`);
    run('mkfifo', ['pipe'], { cwd: folder });
    for (const name of ['file', 'huge', 'd', 'link', 'pipe'])
      expect(look(lstat, `${folder}/`, name)).toEqual(fieldsOf(lstatSync(`${folder}/${name}`)));
    expect((look(lstat, `${folder}/`, 'huge') as StatData).size).toBe(5_000_000_123);
    process.chdir(folder);
    expect(look(lstat, '', 'file')).toEqual(fieldsOf(lstatSync('file')));
    expect(look(lstat, 'd/', '.')).toEqual(fieldsOf(lstatSync('d')));
  });

  test('times', ({ skip }) => {
    const lstat = begin(skip);
    writeFileSync(`${folder}/file`, '');
    const property = fc.property(fc.double({ min: -2e9, max: 8e9, noNaN: true }), (seconds) => {
      utimesSync(`${folder}/file`, 0, seconds);
      expect(look(lstat, `${folder}/`, 'file')).toEqual(fieldsOf(lstatSync(`${folder}/file`)));
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('names: any bytes, of any length', ({ skip }) => {
    const lstat = begin(skip);
    const names = [Buffer.from([0xff, 0xfe, 0x0a, 0x80]), Buffer.from('é'.repeat(127)), Buffer.from('-n\n"')];
    for (const name of names) {
      const path = Buffer.concat([Buffer.from(`${folder}/`), name]);
      writeFileSync(path, 'x');
      expect(look(lstat, `${folder}/`, name)).toEqual(fieldsOf(lstatSync(path)));
    }
    // Around the longest path that a call takes, and beyond.
    process.chdir(folder);
    for (let depth = 0; depth < 20; depth++) {
      mkdirSync('d'.repeat(250));
      process.chdir('d'.repeat(250));
    }
    writeFileSync('deep', 'x');
    const deep = fieldsOf(lstatSync('deep'));
    process.chdir(folder);
    expect(look(lstat, `${folder}/${`${'d'.repeat(250)}/`.repeat(20)}`, 'deep')).toEqual(deep);
    for (let length = 4090; length < 4100; length++) {
      const dots = './'.repeat((length - 4) / 2) + '/'.repeat(length % 2);
      mkdirSync('some', { recursive: true });
      expect(look(lstat, dots, 'some')).toEqual(fieldsOf(lstatSync('some')));
    }
  });

  test('what is not there, or cannot be looked at', ({ skip }) => {
    const lstat = begin(skip);
    writeFileSync(`${folder}/file`, '');
    symlinkSync('loop', `${folder}/loop`);
    expect(look(lstat, `${folder}/`, 'nothing')).toBeUndefined();
    expect(look(lstat, `${folder}/loop/`, 'x')).toBe('ELOOP');
    expect(look(lstat, `${folder}/`, 'n'.repeat(256))).toBe('ENAMETOOLONG');
    expect(look(lstat, `${folder}/file/`, 'x')).toBeOneOf([undefined, 'ENOTDIR']);
    expect(look(lstat, `${folder}/`, 'file')).toEqual(fieldsOf(lstatSync(`${folder}/file`)));
  });
});

test('this machine has it where Node has node:ffi and the machine is one of those that are known', () => {
  const isKnown = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
  expect(quickLstat() !== undefined).toBe(isKnown && process.getBuiltinModule('node:ffi') !== undefined);
});
