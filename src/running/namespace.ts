/**
 * Starts a command in a mount namespace: as root with unshare(1), otherwise in a user namespace, or by bubblewrap. The first
 * two become the command, so exit code, signals and terminal are its own.
 */
import { spawnSync } from 'node:child_process';
import { AgtError, isAgtError } from '../errors.ts';
import type { Namespace } from '../workspace/namespace.ts';

export type NamespaceWay = 'root' | 'user namespace' | 'bubblewrap';

type Words = readonly string[];

/** `$1`: the number of binds; then `ro` or `rw`, source and target of each; the directory to be in; the command. */
const SCRIPT = `agt_left=$1
shift
while [ "$agt_left" -gt 0 ]; do
  mount -n --rbind -- "$2" "$3" || exit 126
  case $1 in ro) mount -n -o remount,bind,ro -- "$3" || exit 126 ;; esac
  shift 3
  agt_left=$((agt_left - 1))
done
cd -- "$1" || exit 126
shift
unset agt_left
exec "$@"`;

/** The words that run `command` in the namespace, in the directory `cwd`. */
export function wordsIn(way: NamespaceWay, { binds }: Namespace, cwd: string, command: Words): Words {
  const words = binds.flatMap(({ source, target, readOnly }) => [readOnly ? 'ro' : 'rw', source, target]);
  const script = ['sh', '-c', SCRIPT, 'agt', String(binds.length), ...words, cwd];
  switch (way) {
    case 'root':
      return ['unshare', '--mount', '--', ...script, ...command];
    case 'user namespace': {
      // Only a namespace of its own may mount; a second one gives the command its own user back.
      const ids = [`--map-user=${process.geteuid?.()}`, `--map-group=${process.getegid?.()}`];
      const first = ['unshare', '--user', '--map-root-user', '--mount', '--'];
      return [...first, ...script, 'unshare', '--user', ...ids, '--', ...command];
    }
    case 'bubblewrap':
      return [
        ...['bwrap', '--dev-bind', '/', '/'],
        ...binds.flatMap(({ target, readOnly }, n) => [
          readOnly ? '--ro-bind' : '--bind',
          sourceOutside(binds, n),
          target,
        ]),
        ...['--chdir', cwd, '--', ...command],
      ];
  }
}

/** bubblewrap looks for sources outside of the namespace, where the binds before do not count. */
function sourceOutside(binds: Namespace['binds'], n: number): string {
  const { source } = binds[n] as Namespace['binds'][number];
  const before = binds.slice(0, n).findLast(({ target }) => `${source}/`.startsWith(`${target}/`));
  return before === undefined || before.source === source
    ? source
    : before.source + source.slice(before.target.length);
}

/** Whether commands can run at the user's own path on this machine, and for whom. */
export function describeNamespaces(directory: string): { readonly works: boolean; readonly text: string } {
  try {
    const binds = [{ source: directory, target: directory }];
    const way = chooseWay({ path: directory, binds, commonDir: '', bin: '' });
    const who =
      process.geteuid?.() === 0 ? 'root; for another user: run agt doctor as that user' : 'this user';
    const by = way === 'root' ? 'unshare(1)' : way === 'bubblewrap' ? 'bubblewrap' : 'a user namespace';
    return { works: true, text: `works, by ${by}, for ${who}` };
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return { works: false, text: `cannot work for this user: ${error.hints.slice(0, -1).join('; ')}` };
  }
}

/** The option with which no command of an agent reaches the checkout, if it works there. */
export function overlayOption(directory: string): string | undefined {
  return describeNamespaces(directory).works ? '--working-copy cow-overlay' : undefined;
}

/** The first way that works with these binds. @throws AgtError with the reason of each, if none does */
export function chooseWay(namespace: Namespace): NamespaceWay {
  const ways: NamespaceWay[] =
    process.geteuid?.() === 0 ? ['root', 'bubblewrap'] : ['user namespace', 'bubblewrap'];
  const reasons: string[] = [];
  for (const way of ways) {
    const problem = probe(wordsIn(way, namespace, namespace.path, ['true']));
    if (problem === undefined) return way;
    reasons.push(`${way}: ${problem}`);
  }
  throw new AgtError('no mount namespace can be made here, which --working-copy cow-overlay needs', {
    hints: [
      ...reasons,
      'it needs user namespaces (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0), bubblewrap, or root',
      'or run it in its own folder: --working-copy worktree',
    ],
  });
}

/** Undefined if it works. */
function probe([program = '', ...args]: Words): string | undefined {
  const { status, stderr, error } = spawnSync(program, args, { cwd: '/', encoding: 'utf8' });
  if (error !== undefined) return `there is no ${program}(1)`;
  return status === 0 ? undefined : (stderr.trim().split('\n').at(-1) ?? `exit code ${status}`);
}
