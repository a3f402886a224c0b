/** Lines about names and remotes, and lines with global options and aliases. See ../lines.ts for the notation. */
import { expand } from './expand.ts';

export const OTHERS: Record<string, readonly string[]> = {
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
  'global options, aliases and other commands': [
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
