/** Tells a person what takes so long: any room reports it, agt mode shows it on one line of stderr. */
import { plural } from '../errors.ts';

export interface Progress {
  /** A participle: `reading files`. */
  readonly what: string;
  readonly done: number;
  /** Undefined if nobody knows; then `done` counts files. */
  readonly total: number | undefined;
}

/** The page reads the line from a pipe: it starts agt with this variable. */
export const READS_PROGRESS = 'AGT_READS_PROGRESS';
/** What `withProgress` writes; empty: the line is cleared. */
export const PROGRESS = /\r([^\r\n]*?)\u001b\[K/g;

let sink: ((progress: Progress | undefined) => void) | undefined;

/** Cheap enough for every file. */
export function reportProgress(what: string, done = 0, total?: number): void {
  sink?.({ what, done, total });
}

/** Another program gets the terminal, or the step is over. */
export function endProgress(): void {
  sink?.(undefined);
}

/** git shows progress after so many seconds, too; this variable of git changes the time. */
const DELAY_SECONDS = 1;
/** Between two updates of the line. */
const UPDATE_MS = 100;

/** `write` prints on the terminal. `action` calls `clear` before it prints something else there. */
export async function withProgress<T>(
  write: (text: string) => void,
  env: NodeJS.ProcessEnv,
  action: (clear: () => void) => Promise<T>,
): Promise<T> {
  const delay = 1000 * Number(env['GIT_PROGRESS_DELAY'] || DELAY_SECONDS);
  let next = Date.now() + (Number.isFinite(delay) ? delay : DELAY_SECONDS * 1000);
  let isShown = false;
  let latest: Progress | undefined;
  const clear = () => {
    if (isShown) write('\r\u001b[K');
    isShown = false;
    latest = undefined;
  };
  const show = () => {
    if (latest === undefined || Date.now() < next) return;
    next = Date.now() + UPDATE_MS;
    isShown = true;
    const { what, done, total } = latest;
    latest = undefined;
    const count =
      total === undefined
        ? done > 0
          ? `: ${plural(done, 'file')}`
          : ''
        : `: ${percent(done, total)}% (${done}/${total})`;
    write(`\r${what}${count} …\u001b[K`);
  };
  sink = (progress) => {
    if (progress === undefined) clear();
    latest = progress;
    show();
  };
  // A step of git may last, and reports nothing meanwhile.
  const timer = setInterval(show, UPDATE_MS).unref();
  try {
    return await action(clear);
  } finally {
    sink = undefined;
    clearInterval(timer);
    clear();
  }
}

function percent(done: number, total: number): number {
  return total === 0 ? 100 : Math.floor((100 * done) / total);
}
