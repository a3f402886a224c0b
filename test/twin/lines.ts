/**
 * The table of command lines that the twins run. `!` in front: the line writes and gets a copy of its own. ` <<< `:
 * standard input. A name that one shape lacks is no waste: errors must be git's own too.
 */
const expand = (command: string, forms: string): string[] =>
  forms
    .split('\n')
    .map((form) => form.trim())
    .filter(Boolean)
    .map((form) =>
      form === '-' ? command : form.startsWith('!') ? `!${command} ${form.slice(1)}` : `${command} ${form}`,
    );

export const LINES: Record<string, readonly string[]> = {
  branch: expand(
    'branch',
    `-
    -a
    -r
    -v
    -vv
    -avv
    -rv
    -l
    --list
    --lis
    --all --verbose
    --remotes
    --list main
    --list 'a*'
    --list 'ag*' main
    --list '*'
    --list 'z*'
    -i --list 'A*'
    -i
    -a --list '*a*'
    -r --list 'origin/*'
    --list agtsession*
    main
    nonsense --list
    --contains
    --contains HEAD
    --contains=main
    --contains main --all
    --no-contains main
    --with feature
    --without feature
    --merged
    --merged main
    --merged=main feature
    --no-merged
    --no-merged main
    --points-at HEAD
    --points-at
    --sort=-committerdate
    --sort=refname --sort=-objectname
    --sort -refname -v
    --format=%(refname)
    --format '%(refname:short) %(objectname:short) %(HEAD)' -a
    --format='%(align:30)%(refname:short)%(end)|%(upstream)'
    --column
    --column=always
    --column=row,dense -a
    --no-column
    --color=always
    --color=always -vv
    --abbrev=4 -v
    --no-abbrev -v
    -q
    -a -r
    -r -a
    --show-current
    -va --list '*'
    --end-of-options
    --
    -- main
    --list -- main
    --bogus
    --c
    -Z
    -h
    --omit-empty --format=
    -d nonexistent
    -a foo
    !-d feature
    !new
    !new main
    !-m feature renamed
    !-c feature copied
    !-v verbose-makes-a-branch
    !-f feature main
    !-u main feature
    !--unset-upstream
    !--track tracking main`,
  ),
  tag: expand(
    'tag',
    `-
    -l
    --list
    -l 'v*'
    -l '*'
    -n
    -n2
    -n 2
    -l -n99 'v2'
    --contains
    --contains HEAD~2
    --no-contains HEAD~2
    --merged
    --merged main
    --no-merged main
    --points-at HEAD
    --points-at
    --sort=-version:refname
    --sort=-creatordate
    --format='%(refname:short) %(subject)'
    --column
    --column=always
    -i
    -i -l 'V*'
    --color=always
    -l nothing
    -v v2
    v1
    -d nonexistent
    --bogus
    !new
    !new HEAD~1
    !-a -m message annotated
    !-d v1
    !-f v1`,
  ),
  'for-each-ref': expand(
    'for-each-ref',
    `-
    --count=2
    --count 2 --sort=-refname
    --sort=committerdate
    --format=%(refname)
    --format='%(refname:short) %(upstream:short)'
    --format='%(objecttype) %(refname:lstrip=2)' refs/heads
    --shell --format=%(refname)
    --perl --format=%(refname)
    refs/heads
    refs/heads/
    refs/heads refs/tags
    refs/tags refs/heads/main
    refs/heads/main
    refs/heads/*
    refs/heads/**
    'refs/heads/a*'
    'refs/heads/[a-m]*'
    'refs/heads/agt*'
    'refs/*/*'
    refs/remotes
    refs/remotes/origin
    refs/remotes/up/stream
    'refs/remotes/*/agt/*'
    refs
    refs/
    refs/agx
    refs/nothing
    heads
    --points-at=HEAD
    --points-at HEAD
    --merged
    --merged main
    --merged=main refs/heads
    --no-merged=main
    --contains
    --contains HEAD~1
    --no-contains HEAD
    --ignore-case refs/HEADS
    --ignore-case
    --color=always --format='%(color:red)%(refname)'
    --format='%(if)%(HEAD)%(then)* %(else)  %(end)%(refname:short)'
    --bogus
    --count
    --count=x
    -- refs/heads
    --format=%(refname) -- refs/heads refs/remotes`,
  ),
  'show-ref': expand(
    'show-ref',
    `-
    -d
    -s
    -s8
    --hash
    --hash=6
    --abbrev
    --abbrev=5
    --head
    --head --heads
    --heads
    --tags
    --heads --tags
    -d --tags
    --heads -s
    main
    HEAD
    v1 v2
    -d v2
    heads/main
    feature main
    nonexistent
    -q
    -q main
    -q nonexistent
    --verify refs/heads/main
    --verify main
    --verify -q refs/heads/none
    --exclude-existing <<< refs/heads/main\\nrefs/heads/new\\n
    -- main
    --bogus`,
  ),
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
  names: [
    ...expand(
      'describe',
      `-
    --tags
    --all
    --all HEAD~1
    --all feature
    --always
    --long --tags
    --abbrev=4 --tags
    --contains HEAD~3
    --contains --all HEAD~2
    --contains --all
    --exact-match
    --match 'v*' --tags
    --exclude 'v1' --tags
    --dirty --tags
    --tags main feature
    --bogus`,
    ),
    ...expand(
      'name-rev',
      `HEAD
    HEAD~1 feature
    --tags HEAD~3
    --name-only HEAD~2
    --refs=refs/heads/* HEAD~1
    --refs 'refs/tags/*' HEAD~3
    --exclude=refs/heads/main HEAD
    --always HEAD~1
    --no-undefined --tags HEAD
    nonexistent
    --annotate-stdin <<< nothing`,
    ),
    ...expand(
      'show-branch',
      `-
    -a
    -r
    --all
    --list
    --list -a
    --sha1-name
    --topo-order
    --no-name
    --current
    --more=2
    --topics main feature
    main feature
    --merge-base main feature
    --independent main feature
    --merge-base
    'f*'
    'm*'
    --reflog main
    --color=always`,
    ),
    ...expand(
      'worktree list',
      `-
    -v
    --porcelain
    --porcelain -z
    --verbose --porcelain
    extra
    --bogus`,
    ),
  ],
  remotes: [
    ...expand(
      'ls-remote',
      `-
    origin
    ../server.git
    --heads origin
    --tags origin
    --refs origin
    --symref origin
    --symref origin HEAD
    origin main
    origin 'ref*'
    origin nothing
    --exit-code origin nothing
    --get-url
    --sort=-refname origin
    -q origin
    nowhere`,
    ),
    ...expand(
      'remote',
      `-
    -v
    show
    show -n origin
    show origin
    show up/stream
    show origin up/stream
    show nowhere
    get-url origin
    !update
    !update origin
    !prune origin
    !remove up/stream`,
    ),
    ...expand(
      'fetch',
      `!
    !origin
    !--all
    !--prune
    !-p origin
    !--tags
    !origin main
    !origin refs/heads/*:refs/remotes/copy/*
    !up/stream
    !--dry-run
    !-v
    nowhere`,
    ).map((line) => line.trimEnd()),
    '!pull',
    '!pull --rebase',
    '!pull origin main',
    ...expand(
      'push',
      `!
    !origin main
    !origin HEAD
    !origin --all
    !--all origin
    !--all
    !--al
    !--all --dry-run
    !--all --porcelain origin
    !--all -u origin
    !--all --force ../fresh.git
    !--all ../fresh.git
    !--mirror ../fresh.git
    !--mirror origin
    !--mirror
    !--tags
    !--tags origin
    !--tags ../fresh.git
    !--tags ../fresh.git main
    !--follow-tags origin main
    !--follow-tags
    !origin refs/heads/*
    !origin refs/heads/*:refs/heads/*
    !origin refs/heads/*:refs/heads/backup/*
    !../fresh.git +refs/heads/*:refs/heads/*
    !../fresh.git refs/*:refs/*
    !../fresh.git refs/heads/f*:refs/heads/g*
    !../fresh.git refs/remotes/*:refs/remotes/*
    !../fresh.git refs/remotes/origin/*:refs/heads/*
    !origin :
    !origin +:
    !--prune origin refs/heads/*
    !--prune --all origin
    !origin --delete feature
    !-d origin feature
    !origin :feature
    !--all origin main
    !--all --mirror origin
    !--all --tags origin
    !--bogus
    !--repo=../fresh.git --all
    !-n --all origin
    !-nv origin refs/heads/*
    !nowhere --all
    !-q origin --all`,
    ).map((line) => line.trimEnd()),
    '!-c push.default=matching push',
    '!-c push.default=matching push origin',
    '!-c push.default=current push',
    '!-c push.default=nothing push',
    '!-c remote.origin.push=refs/heads/*:refs/heads/* push',
    '!-c remote.origin.push=refs/heads/*:refs/heads/saved/* push origin',
    '!-c remote.origin.mirror=true push origin',
    '!-c remote.pushDefault=up/stream push --all',
    '!-c push.followTags=true push --all',
  ],
  'spelled otherwise': [
    '-C . branch -a',
    '-C .. branch',
    '--git-dir=.git branch -a',
    '--git-dir .git --work-tree . log --all --oneline',
    '--no-pager log --all --oneline',
    '-p log --all --oneline',
    '-P branch',
    '--paginate branch',
    '--bare branch',
    '-c color.ui=always branch -a',
    '-c core.pager=cat -p branch -a',
    '-c alias.b=branch b -a',
    "-c 'alias.lg=log --oneline --graph' lg --all",
    "-c alias.l=lg -c 'alias.lg=log --oneline' l --all --decorate",
    "-c 'alias.q=-c log.decorate=full log' q --oneline --all",
    "-c 'alias.loop=loop2' -c alias.loop2=loop loop",
    "-c 'alias.sh=!git branch -a >/dev/null && echo done' sh",
    "-c 'alias.log=branch' log --oneline --all",
    '-c "alias.f=for-each-ref --format=\'%(refname)\'" f refs/heads',
    '-c alias.B=branch b',
    '-c alias.b=branch B --list',
    '-c alias.b=branch b -h',
    "-c 'alias.w=-C .. branch' w",
    '-c alias.br=branch -c pager.br=false br -a',
    '--namespace=x for-each-ref',
    '--exec-path=/nonexistent branch',
    '--literal-pathspecs log --all --oneline',
    '--no-replace-objects log --all --oneline',
    '--no-optional-locks status',
    '--config-env=core.editor=HOME branch',
    '--bogus branch',
    '-C nowhere branch',
    '--version',
    'version',
    '--exec-path',
    '--help',
    'help -a --no-verbose --no-external-commands --no-aliases',
    'nonexistent-command',
    'branches',
    '',
    '-c',
    '--git-dir',
    '--list-cmds=main',
    'status',
    'status -sb',
    'status --porcelain=v2 --branch',
    'diff HEAD~1 --stat',
    'config --get user.name',
    'ls-files',
    'ls-tree HEAD',
    'cat-file -p HEAD',
    'merge-base main feature',
    'blame file.txt',
    'grep commit',
    'symbolic-ref HEAD',
    'var GIT_AUTHOR_IDENT',
    'check-ref-format --branch @{-1}',
    '!switch feature',
    '!checkout -b fresh main',
    '!switch -c agtx',
    '!commit --allow-empty -m more',
    '!merge feature',
    '!gc -q',
  ],
};
