/**
 * git push. A push of refs that the user did not name one by one (`--all`, `--mirror`, `--tags`, wildcards, `:`) gets
 * negative refspecs. git matches these against the destination, so they exclude what a wildcard maps hidden names to.
 *
 * git sends an explicit source even if it is hidden. `--follow-tags` sends annotated tags only, and agt makes none.
 */
import { OWN_NAMESPACE } from '../../filter/agent-refs.ts';
import { HEADS, TAGS } from '../../git/files/ref-files.ts';
import {
  hasOption,
  lastOption,
  optionTable,
  type ParsedOptions,
  parseOptions,
  withoutOptions,
} from '../command-line/options.ts';
import { configValue, currentBranch, isConfigTrue, type View } from '../view/view.ts';
import type { Rewrite, Rule } from './rule.ts';

export const OPTIONS = optionTable(`
  v|verbose q|quiet repo= all branches mirror d|delete tags n|dry-run porcelain f|force force-with-lease?
  force-if-includes recurse-submodules= thin receive-pack= exec= u|set-upstream progress prune no-verify verify
  follow-tags signed? atomic o|push-option= 4|ipv4 6|ipv6`);

/** With one of these, git pushes other refs, or elsewhere. */
export const SHAPING = 'repo all branches mirror delete tags prune'.split(' ');

export const push: Rule = (args, view) => {
  const parsed = parseOptions(args, OPTIONS);
  if (parsed === undefined || view.namespaces.length === 0 || hasOption(parsed, 'delete')) return undefined;
  const isOn = (name: string) => lastOption(parsed, name, `no-${name}`)?.name === name;
  const [named, ...refspecs] = parsed.args;
  const remote = named ?? lastOption(parsed, 'repo')?.value ?? defaultPushRemote(view);
  if (remote === undefined) return undefined;
  const configuredMirror = isConfigTrue(configValue(view, `remote.${remote}.mirror`));
  const mirror = configuredMirror || isOn('mirror');
  const all = isOn('all') || isOn('branches');
  const tags = isOn('tags') ? [`${TAGS}*`] : [];
  const isNamed = refspecs.length + tags.length > 0;
  // git refuses these combinations; its own message names the options that the user wrote.
  if ((all || mirror) && (isNamed || (all && mirror))) return undefined;
  if (mirror) return pushMirror(parsed, remote, configuredMirror, view);

  const configured = all || isNamed ? [] : view.config(`remote.${remote}.push`);
  const sent = all ? [`${HEADS}*:${HEADS}*`] : isNamed ? refspecs : byConfiguration(configured, view);
  const negative = [...new Set([...sent, ...tags].flatMap((refspec) => negativesFor(refspec, view)))];
  if (negative.length === 0) return undefined;
  if (configured.length > 0) {
    const config = negative.map((refspec) => `remote.${remote}.push=${refspec}`);
    return {
      config,
      args: [...parsed.optionWords, ...(parsed.args.length > 0 ? ['--', ...parsed.args] : [])],
    };
  }
  const options = all ? (withoutOptions(parsed, 'all', 'branches') ?? []) : parsed.optionWords;
  return { args: [...options, '--', remote, ...sent, ...negative] };
};

/** A push without refspecs: remote.<name>.push decides, then push.default. */
function byConfiguration(configured: readonly string[], view: View): readonly string[] {
  if (configured.length > 0) return configured;
  return configValue(view, 'push.default') === 'matching' ? [':'] : [];
}

/** The remote that git takes when the user names none; undefined when git would find none and say so. */
function defaultPushRemote(view: View): string | undefined {
  const branch = currentBranch(view);
  const ofBranch = (key: string) =>
    branch === undefined ? undefined : configValue(view, `branch.${branch}.${key}`);
  const configured = ofBranch('pushremote') ?? configValue(view, 'remote.pushdefault') ?? ofBranch('remote');
  if (configured !== undefined) return configured;
  const [only, ...others] = view.remotes();
  if (only !== undefined && others.length === 0 && view.gitIsAtLeast(2, 42)) return only;
  return view.remotes().includes('origin') ? 'origin' : undefined;
}

function pushMirror(parsed: ParsedOptions, remote: string, configured: boolean, view: View): Rewrite {
  return {
    config: configured ? [`remote.${remote}.mirror=false`] : [],
    args: [
      ...(withoutOptions(parsed, 'mirror') ?? []),
      '--prune',
      '--force',
      '--',
      remote,
      'refs/*:refs/*',
      // Others' sessions may be there, even if this repository has none.
      ...new Set([...negativesFor('refs/*', view), `^${OWN_NAMESPACE}*`]),
    ],
  };
}

/** Negative refspecs: none for an explicit source, mapped namespaces for a wildcard, branches for `:`. */
function negativesFor(refspec: string, view: View): string[] {
  const withoutForce = refspec.replace(/^\+/, '');
  if (withoutForce.startsWith('^')) return [];
  const isMatching = withoutForce === ':' || withoutForce === '';
  const [from = '', to = from] = isMatching ? [`${HEADS}*`] : withoutForce.split(':');
  const star = from.indexOf('*');
  if (star === -1) return [];
  const [before, after] = [from.slice(0, star), from.slice(star + 1)];
  const mapped = (source: string) => `^${to.replace('*', () => source.slice(before.length))}`;
  return hiddenSources(view).flatMap((source) => {
    if (source.startsWith(before)) {
      if (source.endsWith('*')) return [mapped(source)];
      return source.endsWith(after) ? [mapped(source.slice(0, source.length - after.length))] : [];
    }
    return source.endsWith('*') && before.startsWith(source.slice(0, -1)) ? [`^${to}`] : [];
  });
}

/** As `…/*`; in the namespace of the branch checked out here one by one: a refspec takes no exceptions. */
function hiddenSources(view: View): string[] {
  const current = view.currentAgentBranch;
  return view.namespaces.flatMap((namespace) =>
    current?.startsWith(namespace)
      ? view.hiddenRefs().filter((ref) => ref.startsWith(namespace))
      : [`${namespace}*`],
  );
}
