/**
 * Git's own commands, 2.39 to 2.55, as far as an alias could not stand for them. Those with a rule are in
 * rules/index.ts; every other one can reveal nothing that an argument could hide, and is passed on at once.
 */
export const PASSED_ON: ReadonlySet<string> = new Set(
  `add am annotate apply archive backfill bisect bisect--helper blame bugreport cat-file check-attr check-ignore
  check-mailmap check-ref-format checkout checkout--worker checkout-index cherry cherry-pick clean clone column commit
  commit-graph commit-tree config count-objects credential credential-cache credential-cache--daemon credential-store
  diagnose diff diff-files diff-index diff-pairs diff-tree difftool env--helper fast-import fetch-pack fmt-merge-msg
  for-each-repo format-rev fsck fsck-objects fsmonitor--daemon gc get-tar-commit-id grep hash-object help history hook
  index-pack init init-db interpret-trailers last-modified ls-files ls-tree mailinfo mailsplit maintenance merge
  merge-base merge-file merge-index merge-ours merge-recursive merge-recursive-ours merge-recursive-theirs
  merge-subtree merge-tree mktag mktree multi-pack-index mv notes pack-objects pack-redundant pack-refs patch-id
  pickaxe prune prune-packed range-diff read-tree receive-pack remote-ext remote-fd repack replace replay repo rerere
  reset restore revert rm send-pack show-index sparse-checkout stage stash status stripspace submodule submodule--helper switch
  symbolic-ref unpack-file unpack-objects update-index update-ref update-server-info upload-archive
  upload-archive--writer upload-pack url-parse var verify-commit verify-pack verify-tag version write-tree`.split(
    /\s+/,
  ),
);
