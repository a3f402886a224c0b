/** The processes that one has started, as ps(1) lists them. */
import { execFileSync } from 'node:child_process';

const COLUMNS = 'pid=,ppid=,stat=,wchan:24=,etimes=,args=';

interface Listed {
  readonly pid: number;
  readonly line: string;
}

function descendants(root: number): Listed[] {
  const options = { encoding: 'utf8', timeout: 10_000 } as const;
  const lines = execFileSync('ps', ['-ww', '-eo', COLUMNS], options).split('\n');
  const all = lines.map((line) => ({ line, numbers: line.trim().split(/\s+/).map(Number) }));
  const found: Listed[] = [{ pid: root, line: '' }];
  for (const { pid: parent } of found)
    for (const { line, numbers } of all)
      if (numbers[1] === parent) found.push({ pid: numbers[0] ?? 0, line });
  return found.slice(1);
}

/** One line each: pid, parent, state, the kernel's function where it waits, seconds, command line. */
export function processesOf(root: number): string {
  return descendants(root)
    .map(({ line }) => line.slice(0, 300))
    .join('\n');
}

export function killProcesses(root: number): void {
  for (const { pid } of descendants(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
