#!/bin/sh
# Installs agt, or removes it: sh install.sh [--version V] [--prefix DIR] [--uninstall]
# Without options: the newest version, into ~/.local: bin/agt, the man page, and completion for bash, zsh and fish.
# In a clone of agt it builds agt first. AGT_DOWNLOADS names a place of archives: an address or a directory.
set -eu

downloads=${AGT_DOWNLOADS-@DOWNLOADS@}
version=@VERSION@
prefix=${HOME:?}/.local

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf 'hint: %s\n' "$line" >&2; done
  exit 1
}

files='bin/agt share/man/man1/agt.1 share/bash-completion/completions/agt share/zsh/site-functions/_agt
share/fish/vendor_completions.d/agt.fish share/doc/agt/LICENSE share/doc/agt/THIRD-PARTY-LICENSES'

uninstall() {
  [ -e "$prefix/bin/agt" ] || fail "agt is not installed in $prefix" 'name the directory: --prefix DIR'
  if "$prefix/bin/agt" --version >/dev/null 2>&1; then
    "$prefix/bin/agt" hooks uninstall --all >/dev/null ||
      fail 'agt could not remove its hooks from the settings of your agents, and is still installed'
    "$prefix/bin/agt" shim uninstall 2>/dev/null || :
  fi
  for file in $files; do rm -f "$prefix/$file"; done
  for file in $files; do
    directory=$file
    while [ "$directory" != . ]; do
      directory=$(dirname "$directory")
      rmdir "$prefix/$directory" 2>/dev/null || break
    done
  done
  rmdir "$prefix" 2>/dev/null || :
  printf 'agt is gone from %s. Your sessions stay in your repositories, snapshots of folders in %s.\n' \
    "$prefix" "${XDG_STATE_HOME:-$HOME/.local/state}/agt"
}

# The loader of the system has said why.
cannot_start() {
  case $1 in
  *libatomic*) fail 'agt needs the library libatomic.so.1, and this system lacks it: nothing was installed' \
    'Debian and Ubuntu: apt-get install libatomic1; Fedora: dnf install libatomic; then run this again' ;;
  *) fail "agt does not start here, and nothing was installed: $1" 'it needs glibc 2.28 or newer and libstdc++: Alpine has neither' ;;
  esac
}

action=install
while [ $# -gt 0 ]; do
  case $1 in
  --version | --prefix) [ $# -gt 1 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
  --version) version=$2 && shift ;;
  --version=*) version=${1#*=} ;;
  --prefix) prefix=$2 && shift ;;
  --prefix=*) prefix=${1#*=} ;;
  --uninstall) action=uninstall ;;
  -h | --help)
    sed -n '2,4s/^# //p' "$0"
    exit 0
    ;;
  *) fail "unknown option \"$1\"" 'sh install.sh [--version V] [--prefix DIR] [--uninstall]' ;;
  esac
  shift
done
if [ "$action" = uninstall ]; then
  uninstall
  exit 0
fi

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
MINGW* | MSYS* | CYGWIN*) fail 'agt does not run on Windows yet, but it works in WSL: install it there' ;;
*) fail "agt does not run on $(uname -s)" 'it runs on Linux and macOS' ;;
esac
case $(uname -m) in
x86_64 | amd64) system=$system-x64 ;;
aarch64 | arm64) system=$system-arm64 ;;
*) fail "there is no agt for the processor $(uname -m)" 'build it: npm install && npm run build' ;;
esac
command -v git >/dev/null || fail 'git is not installed' 'agt needs git 2.39 or newer'
work=$(mktemp -d "${TMPDIR:-/tmp}/agt-install.XXXXXX")
new=''
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
trap 'exit 130' INT TERM

# Writes a file of the release into the directory $work.
get() {
  case $downloads in
  */*:* | *://*)
    if command -v curl >/dev/null; then
      curl --fail --silent --show-error --location --retry 2 --output "$work/$1" "$downloads/$1"
    elif command -v wget >/dev/null; then
      wget -q -O "$work/$1" "$downloads/$1"
    else
      fail 'neither curl nor wget is installed' "fetch $downloads/$1 by yourself, and set AGT_DOWNLOADS to its directory"
    fi
    ;;
  *) cp "$downloads/$1" "$work/$1" ;;
  esac || fail "cannot get $downloads/$1" 'is there such a version? --version V chooses another one'
}

# Writes the files of the archive into $tree.
download() {
  if command -v xz >/dev/null; then kind=xz; else kind=gz; fi
  archive=agt-$version-$system.tar.$kind
  get SHA256SUMS
  get "$archive"
  grep " [ *]$archive\$" "$work/SHA256SUMS" >"$work/wanted" || fail "SHA256SUMS does not name $archive"
  (
    cd "$work"
    if command -v sha256sum >/dev/null; then sha256sum -c wanted; else shasum -a 256 -c wanted; fi >/dev/null 2>&1
  ) || fail "$archive is not what SHA256SUMS says: nothing was installed" 'try again; if it happens again, tell the authors'
  case $kind in
  xz) xz -dc "$work/$archive" ;;
  gz) gzip -dc "$work/$archive" ;;
  esac | tar -xf - -C "$work" || fail "cannot unpack $archive"
  tree=$work/agt-$version-$system
}

# The same from the sources beside this script.
build() {
  tree=$work/agt
  echo 'Building agt, which takes a minute.'
  "$(dirname "$0")/scripts/release" --unpacked "$tree" >"$work/log" 2>&1 ||
    fail "cannot build agt: $(tail -n 1 "$work/log")" "see what fails: $(dirname "$0")/scripts/release --unpacked DIR"
}
case $downloads in
@*) build ;;
*) download ;;
esac

# Each file comes under a name of its own, and then takes the place of the old one. The executable is the first.
for file in $files; do
  directory=$prefix/${file%/*}
  mkdir -p "$directory" || fail "cannot make $directory" 'choose another directory: --prefix DIR'
  new=$directory/.agt-new.$$
  cp "$tree/$file" "$new" || fail "cannot write into $directory" 'choose another directory: --prefix DIR'
  if [ "$file" = bin/agt ]; then said=$("$new" --version 2>&1) || cannot_start "$said"; fi
  mv -f "$new" "$prefix/$file"
done
printf 'Installed %s in %s.\n' "$said" "$prefix"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) printf "Put it on your PATH, in your shell's startup file:\n  export PATH=\"%s/bin:\$PATH\"\n" "$prefix" ;;
esac
printf 'Protect the agent that you use: agt hooks install --all\n'
