/** The part of the shim's text that starts agt if sessions have other prefixes than the script knows. */
import { prefixesLine } from '../../config/prefixes.ts';
import { DEFAULT_PREFIXES } from '../../config/settings.ts';
import type { Prefixes } from '../../filter/agent-refs.ts';
import { prefixesFile } from '../../layout.ts';

/** `agtDir` in the script's words. */
export function otherPrefixesPart(prefixes: Prefixes, agtDir: string): string {
  const file = prefixesFile(agtDir);
  const own = prefixesLine(prefixes);
  if (own === prefixesLine(DEFAULT_PREFIXES)) return `if [ -e "${file}" ]; then agt_exec "$@"; fi`;
  return `if ! [ -f "${file}" ]; then agt_exec "$@"; fi
  while IFS= read -r agt_line; do
    if [ "$agt_line" != '${own}' ]; then agt_exec "$@"; fi
  done <"${file}"`;
}
