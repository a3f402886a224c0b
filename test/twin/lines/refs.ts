/** Lines that list refs. See ../lines.ts for the notation. */
import { expand } from './expand.ts';

export const REFS: Record<string, readonly string[]> = {
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
    --stdin <<< refs/heads\\n
    --format=%(refname) --stdin <<< refs/\\n
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
};
