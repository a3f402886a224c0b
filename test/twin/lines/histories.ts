/** Lines about histories and sets of revisions. See ../lines.ts for the notation. */
import { expand } from './expand.ts';

export const HISTORIES: Record<string, readonly string[]> = {
  log: [
    ...expand(
      'log',
      `-
    --oneline
    --oneline -3
    -n 2
    -n2 --skip=1
    --all
    --all --oneline
    --all --graph --oneline
    --graph --all --decorate
    --oneline --decorate
    --oneline --decorate=full --all
    --oneline --decorate=short
    --oneline --no-decorate --all
    --oneline --decorate=auto
    --color=always --oneline --graph --all --decorate
    --branches --oneline
    --branches=f* --oneline
    '--branches=*' --oneline
    --tags --oneline
    '--tags=v*' --oneline
    --remotes --oneline
    --remotes=origin --oneline
    --remotes=up/stream --oneline
    --glob=heads --oneline
    --glob=refs/heads/* --oneline
    --glob refs/heads --oneline
    --glob=remotes/origin --oneline --decorate
    --exclude=feature --branches --oneline
    --exclude=refs/heads/feature --all --oneline
    --exclude refs/heads/feature --all --oneline
    main --not --branches=feature --oneline
    --not --remotes --not --all --oneline
    --all --not feature --oneline
    --branches --tags --remotes --oneline --source
    --all --source --oneline
    --all --format='%h %d %s'
    --all --format='%H%n%D'
    --pretty='%C(auto)%h%d %s' --all --color=always
    --pretty=fuller -2
    --pretty=raw --all
    --format=%d -1
    --all --simplify-by-decoration --oneline
    --simplify-by-decoration --oneline --decorate
    --decorate-refs=refs/heads --oneline --decorate --all
    --decorate-refs=refs/tags/ --oneline --decorate --all
    --decorate-refs-exclude=refs/tags --oneline --decorate --all
    --clear-decorations --oneline --decorate --all
    --clear-decorations --decorate-refs=refs/custom --oneline --decorate --all
    --no-walk --all --oneline
    --no-walk --branches --oneline --decorate
    --left-right --oneline main...feature
    --boundary --oneline feature..main
    --cherry-pick --oneline main...feature
    --merges --oneline --all
    --no-merges --oneline --all
    --first-parent --oneline --all
    --reverse --oneline --all
    --topo-order --oneline --all
    --date-order --oneline --all
    --author=Ann --oneline --all
    --author=Robo --oneline --all
    --author=agt --oneline --all
    --committer=Carl --oneline --all
    --grep=commit --oneline --all
    --grep --all --oneline
    --grep=work --all --oneline
    -i --grep=COMMIT --all --oneline
    -E '--grep=(a|b)' --all --oneline
    -F --grep=. --all --oneline
    --invert-grep --grep=commit --all --oneline
    --all-match --grep=on --grep=topic --all --oneline
    -g --oneline
    -g --all --oneline --decorate
    -g main -2
    --walk-reflogs --oneline
    -p -1
    --stat --all
    --name-status --oneline --all
    --follow --oneline file.txt
    --follow --oneline --all -- file.txt
    -- file.txt
    --oneline --all -- file.txt
    --all --oneline --end-of-options main
    --oneline --end-of-options main
    -S 'commit 3' --oneline --all
    -S --all --oneline
    -G commit --oneline --all
    -L 1,1:file.txt --oneline
    --since=2026-01-01 --oneline --all
    --until 2030-01-01 --oneline --all
    --max-count 2 --all --oneline
    --notes --all --oneline
    --show-notes --all
    --stdin --oneline <<< main\\n
    --bisect --oneline
    --children --all --oneline
    --parents --all --oneline
    --ancestry-path --oneline feature..main
    --alll
    --bogus
    nonexistent
    nonexistent..main
    HEAD
    --abbrev-commit --abbrev=12 --all
    --decorate --output-indicator-new=+ --oneline
    --show-signature --oneline -1
    --encoding=UTF-8 --all --format=%an
    --use-mailmap --format=%aN --all
    --no-mailmap --format=%an --all
    -3 --all --format='%an <%ae>'`,
    ),
    ...expand(
      'show',
      `-
    -s
    -s --oneline --decorate
    HEAD~1 --stat
    v1
    v2
    main feature -s --format=%d
    --all -s --oneline --decorate
    nonexistent
    HEAD:file.txt
    -s --format='%h %D' main`,
    ),
    'whatchanged -2',
    'log --git-completion-helper',
    'whatchanged --all --oneline',
    ...expand(
      'reflog',
      `-
    show
    show main
    show --all
    --all
    -2
    main
    --decorate
    show --format='%h %d %gs' --all
    exists refs/heads/main
    --git-completion-helper-all
    expire --dry-run --expire=now refs/heads/main`,
    ),
    '-c log.decorate=full log --oneline --all',
    '-c log.excludeDecoration=refs/tags log --oneline --decorate --all',
    '-c log.excludeDecoration=refs/heads/feature log --oneline --decorate',
    '-c log.initialDecorationSet=all log --oneline --decorate --all',
    '-c log.decorate=no log --oneline --all',
    '-c format.pretty=%d log --all',
    '-c grep.patternType=perl log --all --oneline --grep=com',
    'stash list',
    'stash show',
    'cherry main feature',
    'range-diff main~1...feature',
    'format-patch --stdout -1',
    'format-patch --stdout main~1..main',
    'format-patch --stdout --all',
  ],
  'rev-list': [
    ...expand(
      'rev-list',
      `--all
    HEAD
    --all --count
    --branches --count
    --tags
    --remotes
    --glob=heads
    --glob=refs/heads/f*
    --all --objects
    --all --objects --count
    --all --max-count=2
    --all -n 2
    -n2 --all
    --all --pretty=oneline
    --all --format=%s
    --all --parents
    --all --children
    --all --timestamp
    --all --left-right
    --all --graph
    --header -1 --all
    --all --disk-usage
    --all --use-bitmap-index --count
    --all --author=Ann
    --all --author=agt
    --all --no-walk
    --not --all
    main --not --exclude=main --branches
    HEAD --not --remotes
    --stdin <<< main\\n^feature\\n
    --bisect --all
    --all -- file.txt
    --exclude=refs/heads/f* --all
    --since=2026-01-01 --all
    --date-order --all
    --reverse --all
    --merges --all
    -
    nonexistent
    --all --bogus`,
    ),
    ...expand(
      'shortlog',
      `HEAD
    -s HEAD
    -sn --all
    -sne --all
    -n --all
    --all
    --branches
    -s --tags
    --group=author --all
    --group trailer:x --all
    -c --all
    -e --all --since=2026-01-01
    --format=%s --all
    -w20 --all
    -- file.txt
    <<< x`,
    ),
    ...expand(
      'rev-parse',
      `HEAD
    --all
    --branches
    --tags
    --remotes
    --branches=f*
    --glob=refs/heads
    --glob=heads/f*
    --symbolic --all
    --symbolic-full-name --branches
    --abbrev-ref HEAD
    --exclude=refs/heads/main --all
    --not --all
    main feature
    --short HEAD
    --git-dir
    --show-toplevel
    --is-inside-work-tree
    --verify nonexistent
    --sq-quote --all
    HEAD -- --all
    --verify -q HEAD`,
    ),
    'bundle create - --all --bogus-option',
    '!bundle create out.bundle --all',
    '!bundle create out.bundle --branches',
    '!bundle create out.bundle main',
    'fast-export --all',
    'fast-export --branches --no-data',
    'fast-export main',
    'fast-export --all --signed-tags strip',
  ],
};
