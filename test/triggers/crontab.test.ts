import { describe, expect, test } from 'vitest';
import { cronLine, cronSchedule, findLine, putLine, removeLine } from '../../src/triggers/crontab.ts';
import { run } from '../harness/world.ts';

describe('cronLine', () => {
  /** The command that cron gives to sh: an unescaped `%` ends it, and cron removes the backslash before an escaped one. */
  function commandForSh(line: string): string {
    const command = line.split(' ').slice(5).join(' ');
    let out = '';
    for (let i = 0; i < command.length; i++) {
      const c = command[i] as string;
      if (c === '\\') {
        i++;
        out += command[i] === '%' ? '%' : `\\${command[i] ?? ''}`;
      } else if (c === '%') return out;
      else out += c;
    }
    return out;
  }

  test.for([
    '/plain/path',
    "/it's/a b",
    '/100%/x',
    '/back\\slash',
    '/both\\%',
    '/$HOME/`id`/"q"',
    '/#x',
    '/%%',
    "/'%'",
  ])('cron and sh together read %s as it is', (path) => {
    const line = cronLine({
      schedule: '* * * * *',
      environment: { AGT_GIT_PATH: path },
      command: ['printf', '%s\\n', path],
      repository: path,
    });
    const script = commandForSh(line)
      .replace(' >/dev/null', '; printf "%s\\n" "$AGT_GIT_PATH"')
      .replace(/^(AGT_GIT_PATH=)/, 'export $1')
      .replace(/ printf/, '; printf');
    expect(run('sh', ['-c', script], { cwd: '/' }).stdout).toBe(`${path}\n${path}\n`);
    const crontab = putLine('@daily x\n', path, line);
    expect(findLine(crontab, path)).toBe(line);
    expect(findLine(crontab, `${path}x`)).toBeUndefined();
    expect(removeLine(crontab, path)).toBe('@daily x\n');
  });

  test('a line that is commented out is not the line of the repository', () => {
    const job = { schedule: '* * * * *', environment: {}, command: ['agt'], repository: '/r' };
    const off = `#${cronLine(job)}\n`;
    expect(findLine(off, '/r')).toBeUndefined();
    expect(putLine(off, '/r', cronLine(job))).toBe(`${off}${cronLine(job)}\n`);
  });

  test('refuses a path with a line break', () => {
    const job = { schedule: '* * * * *', environment: {}, command: ['agt'], repository: '/a\nb' };
    expect(() => cronLine(job)).toThrow('a crontab cannot hold a line break');
  });

  test('cronSchedule writes minutes, hours and a day', () => {
    expect([1, 5, 30, 60, 120, 1440].map(cronSchedule)).toEqual([
      '* * * * *',
      '*/5 * * * *',
      '*/30 * * * *',
      '0 * * * *',
      '0 */2 * * *',
      '0 0 * * *',
    ]);
  });
});
