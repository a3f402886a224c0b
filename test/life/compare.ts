/** Compares facts. */
import type { Facts } from './facts.ts';

/** The differences, as lines for people. */
export function differences(
  expected: Facts,
  actual: Facts,
  ignore: (key: string) => boolean = () => false,
): string[] {
  const keys = new Set([...expected.keys(), ...actual.keys()]);
  const lines: string[] = [];
  for (const key of keys) {
    const [one, other] = [expected.get(key), actual.get(key)];
    if (one === other || ignore(key)) continue;
    lines.push(`${JSON.stringify(key)}: expected ${show(one)}, found ${show(other)}`);
  }
  return lines.sort();
}

function show(text: string | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(text.slice(0, 120));
}

/** Facts about files under a path of the session folder. */
export function isUnder(key: string, path: string): boolean {
  return key === `file ${path}` || key.startsWith(`file ${path}/`);
}

/** Directories above a path, which a restore may make or remove. */
export function isAbove(key: string, path: string): boolean {
  return key.startsWith('file ') && path.startsWith(`${key.slice('file '.length)}/`);
}

/** @throws Error if a session is not as it was before a command that may not change it. */
export function stays({ facts }: { readonly facts: Facts }, before: Facts, what: string): void {
  const problems = differences(before, facts);
  if (problems.length > 0) throw new Error(`${what} changed the session:\n${problems.join('\n')}`);
}
