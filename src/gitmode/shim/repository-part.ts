/** The parts of the shim's text that find the repository, and see whether it holds anything of agt's. */
import { prefixesLine } from '../../config/prefixes.ts';
import { DEFAULT_PREFIXES } from '../../config/settings.ts';
import { localNamespaces, OWN_NAMESPACE, type Prefixes } from '../../filter/agent-refs.ts';
import { REMOTES } from '../../git/files/ref-files.ts';
import { prefixesFile } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { AGT, namesOf, withoutSlash } from './sh-text.ts';

export function repositoryPart(): string {
  return `# Finds the repository as git does.
until [ -e "$agt_dir/.git" ] || [ -f "$agt_dir/HEAD" ]; do
  if [ "$agt_dir" -ef / ] || ! [ -e "$agt_dir/.." ]; then exec "$agt_real" "$@"; fi
  agt_dir=$agt_dir/..
done
if [ -f "$agt_dir/.git/HEAD" ]; then
  agt_git=$agt_dir/.git agt_common=$agt_dir/.git
elif [ -f "$agt_dir/.git" ] && IFS= read -r agt_line <"$agt_dir/.git"; then
  case $agt_line in
  'gitdir: /'*) agt_git=\${agt_line#gitdir: } ;;
  'gitdir: '*) agt_git=$agt_dir/\${agt_line#gitdir: } ;;
  *) agt_exec "$@" ;;
  esac
  if [ -f "$agt_git/commondir" ] && IFS= read -r agt_line <"$agt_git/commondir"; then
    case $agt_line in /*) agt_common=$agt_line ;; *) agt_common=$agt_git/$agt_line ;; esac
  else
    agt_common=$agt_git
  fi
  # A path with a line break.
  if ! [ -f "$agt_git/HEAD" ] || ! [ -d "$agt_common/refs" ]; then agt_exec "$@"; fi
elif [ -f "$agt_dir/HEAD" ] && [ -d "$agt_dir/objects" ] && [ -d "$agt_dir/refs" ] && ! [ -e "$agt_dir/.git" ]; then
  agt_git=$agt_dir agt_common=$agt_dir
else
  agt_exec "$@"
fi`;
}

export function withoutAgtPart(prefixes: Prefixes): string {
  const names = namesOf(prefixes);
  const loose = localNamespaces([prefixes]).map(
    (namespace) => `"$agt_common"/${shellQuote(withoutSlash(namespace))}`,
  );
  const remote = ['*', '*/*', '*/*/*'].flatMap((depth) =>
    names.map((name) => `"$agt_common"/${REMOTES}${depth}/${shellQuote(name)}`),
  );
  const packed = [OWN_NAMESPACE.replace(/^refs/, ''), ...names.map((name) => `/${name}/`)];
  return `if [ -d "$agt_common/reftable" ]; then agt_exec "$@"; fi

# In a repository without anything of agt's: real git.
if ! [ -e "${AGT}" ]; then
  if agt_in_session; then agt_exec "$@"; fi
  for agt_path in ${loose.join(' ')} ${remote.join(' ')}; do
    if [ -e "$agt_path" ]; then agt_exec "$@"; fi
  done
  if [ -f "$agt_common/packed-refs" ] &&
    LC_ALL=C grep -qF ${packed.map((text) => `-e '${text}'`).join(' ')} "$agt_common/packed-refs"; then agt_exec "$@"; fi
  exec "$agt_real" "$@"
fi`;
}

/** Starts agt if sessions have other prefixes than the script knows. */
export function otherPrefixesPart(prefixes: Prefixes): string {
  const file = prefixesFile(AGT);
  const own = prefixesLine(prefixes);
  if (own === prefixesLine(DEFAULT_PREFIXES)) return `if [ -e "${file}" ]; then agt_exec "$@"; fi`;
  return `if ! [ -f "${file}" ]; then agt_exec "$@"; fi
  while IFS= read -r agt_line; do
    if [ "$agt_line" != '${own}' ]; then agt_exec "$@"; fi
  done <"${file}"`;
}
