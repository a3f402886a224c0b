/** The list of sessions as it changes: `agt list --watch --json` runs while a page looks, and all pages get its lines. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { ownCommand } from '../process/invocation.ts';

/** A page that is loaded again is away for so long. */
const GRACE_MS = 10_000;
/** Keeps the connection open, and finds pages that are gone. */
const BEAT_MS = 15_000;

export class Live {
  private readonly pages = new Set<ServerResponse>();
  private readonly words: readonly string[];
  private readonly cwd: string;
  private child: ChildProcess | undefined;
  private line = '';
  private left: NodeJS.Timeout | undefined;
  private readonly beat = setInterval(() => this.send(': here\n\n'), BEAT_MS).unref();
  /** When the last page has gone. */
  idleSince: number | undefined = Date.now();

  constructor(cwd: string, all: boolean) {
    this.cwd = cwd;
    this.words = ['list', '--watch', '--json', '--folders', ...(all ? ['--everywhere'] : [])];
  }

  /** The rows that the pages show. */
  get rows(): readonly Record<string, unknown>[] {
    return this.line === '' ? [] : (JSON.parse(this.line) as Record<string, unknown>[]);
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(this.line === '' ? ': here\n\n' : eventOf(this.line));
    this.pages.add(response);
    this.idleSince = undefined;
    clearTimeout(this.left);
    this.start();
    response.on('close', () => {
      this.pages.delete(response);
      if (this.pages.size > 0) return;
      this.idleSince = Date.now();
      this.left = setTimeout(() => this.stop(), GRACE_MS);
    });
  }

  /** The first page need not wait then. */
  start(): void {
    if (this.child !== undefined) return;
    const [program = '', ...args] = [...ownCommand(), ...this.words];
    const child = spawn(program, args, { cwd: this.cwd, stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      const last = lines.at(-1);
      if (last === undefined) return;
      this.line = last;
      this.send(eventOf(last));
    });
    const gone = () => {
      this.child = undefined;
    };
    child.on('error', gone).on('close', gone);
  }

  /** It only reads, and may be in the middle of its clean-up. */
  stop(): void {
    this.child?.kill('SIGKILL');
  }

  close(): void {
    clearInterval(this.beat);
    clearTimeout(this.left);
    this.stop();
    for (const page of this.pages) page.end();
  }

  private send(text: string): void {
    for (const page of this.pages) page.write(text);
  }
}

const eventOf = (line: string) => `event: sessions\ndata: ${line}\n\n`;
