/** SIGINT, SIGTERM and SIGHUP: a command cleans up, or says how to go on, before it ends. */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgtError, isAgtError } from '../errors.ts';

/** So long agt waits for the signal that has ended its git. */
const OWN_SIGNAL_MS = 500;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Returns a function that ends the listening two rounds of Node's loop later: Node hands over a signal last of all, and would
 * drop one that has come already. A busy `agt list --watch` lost every seventh.
 */
export function onSignals(listen: (signal: NodeJS.Signals) => void): () => void {
  const own: Listener = Object.assign((signal: NodeJS.Signals) => listen(signal), { listen });
  for (const signal of SIGNALS) process.on(signal, own);
  return () => {
    released.add(own);
    const end = () => {
      for (const signal of SIGNALS) process.off(signal, own);
    };
    setImmediate(() => setImmediate(end));
  };
}

type Listener = NodeJS.SignalsListener & { readonly listen?: unknown };

/** Those that end soon: nobody may bring them back. */
const released = new WeakSet<NodeJS.SignalsListener>();

/** Whether somebody else than `listen` hears the signal, and decides what becomes of it. */
export function othersHear(signal: NodeJS.Signals, listen: (signal: NodeJS.Signals) => void): boolean {
  return process.listeners(signal).some((one) => (one as Listener).listen !== listen);
}

/** Two signals within this time are one: of a finger that trembles, or of a program that ends the whole group. */
const ONE_PRESS_MS = 500;

/** `first` runs with the first signal, `again` with a later one. */
function onPresses(first: (signal: NodeJS.Signals) => void, again: (signal: NodeJS.Signals) => void) {
  let pressed: number | undefined;
  return onSignals((signal) => {
    if (pressed !== undefined && performance.now() - pressed < ONE_PRESS_MS) return;
    (pressed === undefined ? first : again)(signal);
    pressed ??= performance.now();
  });
}

/** Keeps agt alive for its clean-up; `signal` aborts its git. A second interrupt ends agt at once. */
export function catchInterrupts(outcome: string) {
  const controller = new AbortController();
  let caught: NodeJS.Signals | undefined;
  const release = onPresses((signal) => {
    caught = signal;
    controller.abort();
  }, endBy);
  return {
    signal: controller.signal,
    /** @throws AgtError with the exit code that a shell gives to a process that the signal killed. */
    throwIfAny: () => {
      if (caught === undefined) return;
      throw new AgtError(`interrupted; ${outcome}`, { exitCode: 128 + constants.signals[caught] });
    },
    release,
  };
}

/** Runs `action`. If agt is interrupted meanwhile, `say` runs, and the signal ends agt. */
export async function sayWhenInterrupted<T>(say: () => void, action: () => Promise<T>): Promise<T> {
  const release = onSignals((signal) => {
    if (!endsAtSteps) sayAndEnd(say, signal);
  });
  try {
    return await action();
  } catch (error) {
    await awaitOwnSignal(error);
    throw error;
  } finally {
    release();
  }
}

function sayAndEnd(say: () => void, signal: NodeJS.Signals): void {
  try {
    say();
  } finally {
    endBy(signal);
  }
}

/** A terminal interrupts git as well, and agt may see the end of git first. */
async function awaitOwnSignal(error: unknown): Promise<void> {
  if (caught === undefined && isAgtError(error) && error.signal !== undefined) await sleep(OWN_SIGNAL_MS);
}

let endsAtSteps = false;
let isHeld = false;
let caught: NodeJS.Signals | undefined;

/**
 * Runs `action`. An interrupt ends it at its next step, where it asks `throwIfInterrupted`, so that it puts away what it
 * has begun; then `say` runs, and the signal ends agt. With a second interrupt that is at once.
 */
export async function endingAtSteps<T>(say: () => void, action: () => Promise<T>): Promise<T> {
  const again = (signal: NodeJS.Signals) => sayAndEnd(say, signal);
  const release = onPresses((signal) => {
    caught = signal;
  }, again);
  endsAtSteps = true;
  try {
    return await action();
  } catch (error) {
    await awaitOwnSignal(error);
    throw caught === undefined ? error : interrupted(true);
  } finally {
    endsAtSteps = false;
    if (caught !== undefined) sayAndEnd(say, caught);
    release();
  }
}

/** From the first step of an operation that nobody should have to finish to its last one: no step is the next one. */
export function holdInterrupts(on: boolean): void {
  isHeld = on;
}

/** A git that starts now must not hear of an interrupt from the terminal. */
export function areInterruptsHeld(): boolean {
  return endsAtSteps && isHeld;
}

export function isInterrupted(): boolean {
  return caught !== undefined && !isHeld;
}

/** @throws AgtError */
export function throwIfInterrupted(): void {
  if (isInterrupted()) throw interrupted(false);
}

function interrupted(isTold: boolean): AgtError {
  return new AgtError('interrupted', { exitCode: 130, isTold });
}

/** Once all who listen have cleaned up. */
function endBy(signal: NodeJS.Signals): void {
  process.nextTick(() => {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** Runs a short step that an interrupt must not cut. The signal takes effect afterwards. */
export async function uninterrupted<T>(action: () => Promise<T>): Promise<T> {
  const caught: NodeJS.Signals[] = [];
  try {
    return await hearingAlone(SIGNALS, (signal) => void caught.push(signal), action);
  } finally {
    const [signal] = caught;
    if (signal !== undefined) process.kill(process.pid, signal);
  }
}

/** While `action` runs, no other listener hears these signals. */
export async function hearingAlone<T>(
  names: readonly NodeJS.Signals[],
  listener: NodeJS.SignalsListener,
  action: () => Promise<T>,
): Promise<T> {
  const others = names.map((name) => [name, process.listeners(name) as NodeJS.SignalsListener[]] as const);
  for (const [name, listeners] of others) {
    process.on(name, listener);
    for (const each of listeners) process.off(name, each);
  }
  try {
    return await action();
  } finally {
    for (const [name, listeners] of others) {
      for (const each of listeners) if (!released.has(each)) process.on(name, each);
      process.off(name, listener);
    }
  }
}
