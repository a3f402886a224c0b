/** Lines that the shim changes by itself, or knows to need no change. See test/twin/lines.ts for the notation. */
import { expand } from '../../twin/lines/expand.ts';

export const LISTS = [
  ...expand(
    'branch',
    `-
    -a
    -r
    -v
    -vv
    -avv
    -va
    -rv
    -l
    --list
    --list --all
    --list -r
    --all --verbose
    --remotes
    -a -r
    -r -a
    -q
    --contains
    --contains HEAD
    --contains=main
    --contains main --all
    --no-contains main
    --merged
    --merged main
    --merged -v
    --no-merged main -r
    --points-at HEAD
    --points-at=main -a
    --sort=-committerdate
    --sort -refname -v
    --format=%(refname)
    --format '%(refname:short) %(objectname:short) %(HEAD)' -a
    --column
    --column=row,dense -a
    --no-column
    --color=always -vv
    --no-color
    --abbrev=4 -v
    --no-abbrev -v
    --list main
    --list 'f*' main
    --list topic/a
    --list nothing
    !new
    !new main
    !new nowhere`,
  ),
  '-C . branch -a',
  '--no-pager branch',
  '-P branch --list',
  ...expand(
    'tag',
    `-
    -l
    --list
    -n
    -n2
    -n 2
    -l 'v*'
    --list v1 v2
    -l nothing
    -l -n99 v2
    --contains
    --contains HEAD~2
    --no-contains HEAD~2
    --merged main
    --points-at HEAD
    --points-at
    --sort=-version:refname
    --sort -creatordate
    --format='%(refname:short) %(subject)'
    --column=always
    --color=always
    !new
    !new HEAD~1
    !v1`,
  ),
  ...expand(
    'for-each-ref',
    `-
    --count=2
    --count 2 --sort=-refname
    --sort=committerdate
    --format=%(refname)
    --format '%(refname:short) %(upstream:short)'
    --format='%(objecttype) %(refname:lstrip=2)' refs/heads
    --shell --format=%(refname)
    refs/heads
    refs/heads/
    refs/heads refs/tags
    refs/heads/main
    refs/heads/feature refs/tags/v1
    refs/tags refs/heads/main
    refs/remotes
    refs/remotes refs/heads
    --points-at=HEAD
    --merged
    --merged main
    --merged=main refs/heads
    --merged main refs/heads --sort=-refname
    --no-contains HEAD refs/tags`,
  ),
];

export const SETS = [
  ...expand(
    'log',
    `--all --oneline
    --all --graph --oneline
    --graph --all --decorate
    --oneline --decorate=full --all
    --oneline --no-decorate --all
    --color=always --oneline --graph --all --decorate
    --branches --oneline
    --branches=f* --oneline
    --tags --oneline
    --tags=v* --oneline
    --remotes --oneline
    --remotes=origin --oneline
    --remotes=upstream --oneline
    main --not --branches=feature --oneline
    --not --remotes --not --all --oneline
    --branches --tags --remotes --oneline --source
    --all --source --oneline
    --all --format='%h %d %s'
    --grep --all --oneline
    --all-match --grep=on --grep=topic --all --oneline
    -S --all --oneline
    -n 2 --all --oneline
    --max-count 2 --all --oneline
    --no-walk --all --oneline
    -g --all --oneline --decorate
    --oneline --all -- file.txt
    --oneline -- --all
    --all --oneline --end-of-options main
    --alll
    --author=agt --oneline --all
    --author=Robo --oneline --all`,
  ),
  '-C . log --all --oneline',
  '--no-pager log --branches --oneline',
  'show --all -s --oneline --decorate',
  'whatchanged --all --oneline',
  ...expand(
    'rev-list',
    `--all
    --all --count
    --branches --not main
    --tags
    --remotes
    --objects --all
    --no-walk --all
    --all --max-count=2`,
  ),
  ...expand(
    'shortlog',
    `-s --all
    -sn --branches
    -n --all
    --group --all --all`,
  ),
  ...expand(
    'rev-parse',
    `--all
    --branches
    --branches=f*
    --tags
    --remotes
    --symbolic --all
    --symbolic-full-name --branches --tags
    -- --all`,
  ),
];

export const TRANSFERS = [
  'push --dry-run',
  'push --dry-run origin main',
  ...[
    '',
    ' origin',
    ' --all',
    ' --prune',
    ' -p origin',
    ' --tags',
    ' origin main',
    ' upstream',
    ' --dry-run',
    ' -v',
  ].map((words) => `!fetch${words}`),
  '!pull',
  '!pull --rebase',
  '!pull origin main',
  ...[
    '',
    ' origin main',
    ' origin HEAD',
    ' origin main:main',
    ' -u origin feature',
    ' -q origin main feature',
  ]
    .concat([' --force origin main', ' --follow-tags origin main', ' nowhere', ' origin nothing'])
    .map((words) => `!push${words}`),
];
