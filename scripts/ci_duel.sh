#!/usr/bin/env bash
# The duel against the merge base, for any continuous integration: from a clone with its history to an exit status.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/ci_duel.sh [BASE_COMMIT] [options of 'convladder duel']

Builds the merge base of BASE_COMMIT and this tree, and this tree, and measures them in turns. Without BASE_COMMIT it is
origin/main, or main. Without options that choose cases, it compares the CPU variants on lenet28 and lenet72. The
JSON with every slot is build/duel.json. In a job of GitHub Actions the table is also written to the job's summary.

examples:
  scripts/ci_duel.sh
  scripts/ci_duel.sh origin/main --layer lenet72.conv2 --batch 10
  OMP_NUM_THREADS=1 scripts/ci_duel.sh HEAD~1 --variant flat-vector

environment:
  CONVLADDER_NO_SETUP=1   do not look for missing packages
  OMP_NUM_THREADS         threads of the CPU variants; use 1 if other jobs share the machine

exit status: 0 pass, 1 a case regressed or failed, 2 inconclusive, 3 the duel could not be run, 4 it is incomplete.
USAGE
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage && exit; fi

trap 'echo >&2; exit 130' INT
commit=
if [[ $# -gt 0 && $1 != -* ]]; then
  commit=$1
  shift
else
  for candidate in origin/main main; do
    if git -C "$root" rev-parse --quiet --verify "$candidate^{commit}" >/dev/null; then commit=$candidate && break; fi
  done
fi
[[ -n $commit ]] || (fail "there is neither origin/main nor main: name the commit to compare with") || exit 3
base=$(git -C "$root" merge-base "$commit" HEAD) ||
  (fail "no common history with '$commit' (a shallow clone? fetch it with its history)") || exit 3

[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" || exit 3

# The base in a work tree of its own, kept for the next time.
tree="$root/build/duel_base"
if [[ -e $tree/.git ]]; then
  git -C "$tree" checkout --quiet --detach "$base" || exit 3
else
  mkdir -p "$root/build"
  git -C "$root" worktree prune
  git -C "$root" worktree add --quiet --detach "$tree" "$base" || exit 3
fi
echo "base: $(git -C "$root" log -1 --format='%h %s' "$base")" >&2
(build_preset release convladder) || exit 3
head=$root
root=$tree
(build_preset release convladder) || exit 3
root=$head

duel=("$root/build/release/convladder" duel --base "$tree/build/release/convladder" --output "$root/build/duel.json" "$@")
[[ " $* " == *" --family"* || " $* " == *" --device"* ]] || duel+=(--family cpu)
if [[ -z ${GITHUB_STEP_SUMMARY:-} ]]; then
  exec "${duel[@]}"
fi
"${duel[@]}" --format markdown | tee -a "$GITHUB_STEP_SUMMARY"
