#!/usr/bin/env bash
# Installs a package into a Debian that has nothing else, uses it there as an ordinary user, and removes it.
# usage: try.sh PACKAGE.deb [MIRROR], as root. Exit status: 0 it works, 1 it does not, 77 it cannot be tried here.
set -euo pipefail

readonly exit_skipped=77
package=$(realpath -- "$1") mirror=${2:-}

skip() {
  echo "package.sh: not tried: $*" >&2
  exit "$exit_skipped"
}

((EUID == 0)) || skip "debootstrap needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
if [[ -z $mirror ]]; then
  # shellcheck disable=SC2016  # the format is apt's
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^bookworm //p' | head -n 1)
fi
[[ -n $mirror ]] || skip "no mirror of Debian: --mirror names one"

work=$(mktemp -d "${TMPDIR:-/tmp}/convladder-package-XXXXXX")
system="$work/system"
leave() {
  umount -l "$system/proc" 2>/dev/null || true
  rm -rf --one-file-system -- "$work"
}
trap leave EXIT
trap 'exit 130' INT TERM

# inside COMMAND...: as root there, without anything of this machine's environment.
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$system" "$@"; }
# as_user TEXT: a shell's commands of somebody who has just logged in, in an empty folder.
as_user() { inside su - somebody -c "set -o pipefail; cd empty && $1"; }
step() { echo "== $*"; }

step "a Debian of its own, from $mirror"
debootstrap --variant=minbase bookworm "$system" "$mirror" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2 && skip "debootstrap failed"; }
# What apt needs to reach the same mirror.
cp /etc/resolv.conf "$system/etc/" 2>/dev/null || true
grep -il proxy /etc/apt/apt.conf.d/* 2>/dev/null | xargs -r cp -t "$system/etc/apt/apt.conf.d" || true
mount -t proc proc "$system/proc" || skip "nothing can be mounted here"
inside apt-get -qq update >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2 && skip "apt does not reach $mirror"; }
list() { (cd "$system" && find . -xdev -path ./proc -prune -o -path ./var/cache -prune -o -path ./var/lib -prune -o -path ./var/log -prune -o -path ./home -prune -o -path ./tmp -prune -o -print) | sort; }

step "apt install, without what is only recommended"
cp -- "$package" "$system/convladder.deb"
inside apt-get -qq -y install --no-install-recommends libgomp1 >"$work/log" 2>&1
list >"$work/before"
inside apt-get -qq -y install --no-install-recommends /convladder.deb >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2 && exit 1; }
inside useradd --create-home --shell /bin/bash somebody
inside install -d -o somebody /home/somebody/empty
inside dpkg --verify convladder

step "an ordinary user in an empty folder"
as_user 'convladder --version && convladder list --machine >/dev/null'
as_user 'convladder run --shape 1,8,8,2,3 --batch 4 --repetitions 3 --quiet --output first && ls first'
as_user 'convladder explain first/run.json | sed -n 1,3p'
as_user 'convladder compare first/run.json first/run.json >/dev/null; test $? -lt 3'
as_user 'convladder network --network lenet28 --batch 2 --device cpu --repetitions 2 --quiet --output net && ls net'
as_user 'convladder check --problem softmax | tail -n 2'
as_user 'convladder new my-softmax && ls my-softmax'

step "what is missing is said in one line"
# refused CODE WORD COMMAND: it exits with the code, and a line on its standard error has the word.
refused() {
  local status=0
  as_user "$3" >"$work/out" 2>&1 || status=$?
  cat "$work/out"
  ((status == $1)) || { echo "exit status $status instead of $1: $3" >&2 && exit 1; }
  grep -q -- "$2" "$work/out" || { echo "nothing said of $2: $3" >&2 && exit 1; }
}
refused 3 'compiler' 'convladder run my-softmax'
refused 3 'ython' 'convladder report first/run.json'

step "with what it recommends"
inside apt-get -qq -y install --no-install-recommends g++ python3-matplotlib python3-jinja2 python3-numpy bash-completion \
  man-db >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2 && exit 1; }
as_user 'convladder run my-softmax --device cpu --repetitions 3 --output mine | tail -n 5; test -s mine/run.json && test -s mine/report.html'
as_user 'convladder report first/run.json && test -s first/report.html'
as_user 'MANWIDTH=80 man convladder 2>../man-errors | sed -n 1,20p; test ! -s ../man-errors'
cat >"$system/home/somebody/complete.sh" <<'COMPLETE'
. /usr/share/bash-completion/bash_completion
_completion_loader convladder
COMP_LINE='convladder run --device=sim' COMP_POINT=27
_convladder convladder
echo "completed: ${COMPREPLY[*]}"
COMPLETE
as_user 'bash ../complete.sh | grep -x "completed: simulated"'
# Nothing was written where it lies, not even by root.
inside convladder list >/dev/null
inside dpkg --verify convladder

step "apt remove"
inside apt-get -qq -y purge convladder >"$work/log" 2>&1
list >"$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep convladder || true)
[[ -z $left ]] || { echo "left behind: $left" >&2 && exit 1; }
echo "the package works"
