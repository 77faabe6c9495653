#!/usr/bin/env bash
# A duel between two commits of any repository, for any continuous integration: from a clone to an exit status.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: duel.sh [--base COMMIT] [--new COMMIT] [--build COMMAND] [--command COMMAND] [more] [-- options of 'convladder duel']

Checks two commits out, each into a tree of its own, builds both, and has 'convladder duel' measure them in turns. The trees
are kept, so that the next time only what has changed is built. What is not committed is not measured.

  --base COMMIT       what to compare with: its merge base with the new one (default: origin/HEAD, origin/main or main)
  --new COMMIT        what to judge (default HEAD)
  --repository DIR    where both are (default: that of the current folder)
  --build COMMAND     for bash, in both trees
  --command COMMAND   what is measured, in both trees. No shell reads it: bash -c '...' is one
  --base-command, --new-command COMMAND
                      instead, if both sides need different ones
  --program PATH      instead: in both trees, a build of convladder itself, whose variants are compared
  --convladder PATH   the program that measures (default: convladder; with --program, the new one)
  --output DIR        for everything that is written, in the repository (default build/duel): trees/, duel.json, duel.md,
                      and as duel.xml and duel.sarif what 'convladder export' makes of it
  --at FILE           of the repository: where duel.sarif shows a case, in the line that has its name or else the first
  --fail-on WHAT      regressed: exit with 0 where nobody can tell; undecided (default): with what 'convladder duel' says;
                      never: with 0, unless there was no duel

In convladder's own repository none of these is needed: its CPU variants are compared.
In a job of GitHub Actions the table is also written to the job's summary, and code, verdict and files are the step's outputs.

examples:
  scripts/ci/duel.sh
  scripts/ci/duel.sh --base origin/main -- --layer lenet72.conv2 --batch 10
  duel.sh --build 'make -j bench' --command './bench --size 64' -- --metric 'rate=([0-9.]+) MB/s' --higher-is-better rate

exit status: 0 pass, 1 a case regressed or failed, 2 inconclusive, 3 there was no duel: one line says why, 4 it is incomplete.
USAGE
}

# stop TEXT: there is no duel. Where a table would be, a line says so: a comment from before must not seem to hold still.
stop() {
  echo "duel.sh: $*" >&2
  if [[ -d $output/trees ]]; then
    rm -f "$output"/duel.{json,xml,sarif}
    echo "**no duel (exit code 3)**: ${*//[<>\`]/ }" >"$output/duel.md"
    [[ -z ${GITHUB_OUTPUT:-} ]] || echo "folder=$output" >>"$GITHUB_OUTPUT"
  fi
  [[ -z ${GITHUB_OUTPUT:-} ]] || printf 'code=3\nverdict=no duel\n' >>"$GITHUB_OUTPUT"
  exit 3
}

base='' new=HEAD repository=. build='' program='' convladder='' output=build/duel fail_on=undecided at=''
sides=()
while (($#)); do
  case "$1" in
    --help | -h) usage && exit ;;
    --) shift && break ;;
    --base | --new | --repository | --build | --command | --base-command | --new-command | --program | --convladder | --output | --fail-on | --at)
      (($# > 1)) || stop "$1 needs a value"
      ;;&
    --base) base=$2 ;;
    --new) new=$2 ;;
    --repository) repository=$2 ;;
    --build) build=$2 ;;
    --command) sides+=(--base-command "$2" --new-command "$2") ;;
    --base-command | --new-command) sides+=("$1" "$2") ;;
    --program) program=$2 ;;
    --convladder) convladder=$2 ;;
    --output) output=$2 ;;
    --fail-on) fail_on=$2 ;;
    --at) at=$2 ;;
    *) stop "unknown argument '$1', see --help; options of 'convladder duel' follow --" ;;
  esac
  shift 2
done
options=("$@")
trap 'echo >&2; exit 130' INT

[[ $fail_on == regressed || $fail_on == undecided || $fail_on == never ]] || stop "--fail-on: expected regressed, undecided or never, got '$fail_on'"
root=$(git -C "$repository" rev-parse --show-toplevel) || stop "$repository is in no repository of git that can be read"
if [[ -z $program && ${#sides[@]} -eq 0 ]]; then
  [[ -f $root/harness/judge/duel/duel.hpp ]] || stop "nothing to compare: give --command, or --base-command and --new-command"
  program=build/release/convladder
  [[ -n $build ]] || build="cmake --preset release && cmake --build build/release --target convladder"
  [[ " ${options[*]} " == *" --family"* || " ${options[*]} " == *" --device"* ]] || options+=(--family cpu)
fi
[[ -z $program || ${#sides[@]} -eq 0 ]] || stop "--program: the sides are builds of convladder, and have no commands"

# commit NAME: its digits.
commit() { git -C "$root" rev-parse --quiet --verify "$1^{commit}" || stop "there is no commit '$1' (a shallow clone? fetch it with its history)"; }

if [[ -z $base ]]; then
  for candidate in origin/HEAD origin/main main; do
    if git -C "$root" rev-parse --quiet --verify "$candidate^{commit}" >/dev/null; then base=$candidate && break; fi
  done
  [[ -n $base ]] || stop "there is neither origin/HEAD nor origin/main nor main: name the commit to compare with (--base)"
fi
new=$(commit "$new") || exit 3
named=$(commit "$base") || exit 3
base=$(git -C "$root" merge-base "$named" "$new") ||
  stop "no common history of $named and $new (a shallow clone? fetch it with its history: fetch-depth: 0)"
[[ $base != "$new" ]] || stop "nothing to compare: both sides are ${new:0:12}"

[[ $output == /* ]] || output=$root/$output
mkdir -p "$output/trees" || stop "cannot create $output"
rm -f "$output"/duel.{json,md,xml,sarif}
# A folder that git would take for changes hides itself.
[[ -e $output/.gitignore ]] || echo '*' >"$output/.gitignore"

# prepare SIDE COMMIT: its tree, built.
prepare() {
  local tree="$output/trees/$1" log="$output/build_$1.log"
  if [[ -e $tree/.git ]]; then
    git -C "$tree" checkout --quiet --force --detach "$2" || stop "$tree: cannot check out $2"
  else
    git -C "$root" worktree prune
    git -C "$root" -c core.hooksPath=/dev/null worktree add --quiet --force --detach "$tree" "$2" || stop "$tree: cannot check out $2"
  fi
  if [[ -f $tree/.gitmodules ]]; then
    git -C "$tree" submodule update --quiet --init --recursive || stop "$tree: cannot get the submodules"
  fi
  echo "$1: $(git -C "$root" log -1 --format='%h %s' "$2")" >&2
  [[ -n $build ]] || return 0
  local begin=$SECONDS
  if ! (cd "$tree" && bash -o pipefail -c "$build") >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    stop "building $1 (${2:0:12}) failed; its output is in $log"
  fi
  ((SECONDS - begin < 5)) || echo "$1: built in $((SECONDS - begin)) s" >&2
}

# Names of the same length: a longer path shifts a program's stack, and that alone may cost a percent.
(prepare base "$base") || exit 3
(prepare head "$new") || exit 3

# Below this folder by their paths from it: nobody wants to read in a comment where a runner keeps its work.
trees=$(realpath --relative-to=. "$output/trees")
[[ $trees != ../* ]] || trees=$output/trees
duel=(duel --output "$output/duel.json" --format markdown)
if [[ -n $program ]]; then
  duel+=(--base "$trees/base/$program" --new "$trees/head/$program")
  [[ -n $convladder ]] || convladder=$output/trees/head/$program
else
  duel+=(--base-folder "$trees/base" --new-folder "$trees/head" "${sides[@]}")
fi
convladder=${convladder:-convladder}
command -v "$convladder" >/dev/null || stop "there is no program '$convladder' (--convladder)"

code=0
"$convladder" "${duel[@]}" "${options[@]}" >"$output/duel.md" || code=$?
case $code in
  0 | 1 | 2 | 4) verdict=$(sed -nE '1s/^\*\*(.*) \(exit code.*$/\1/p' "$output/duel.md") ;;
  130) exit 130 ;;
  *) stop "convladder duel has ended with $code" ;;
esac
cat "$output/duel.md"
# export_to FORMAT NAME [OPTION...]
export_to() { "$convladder" export "$output/duel.json" --to "$1" --output "$output/$2" "${@:3}" || rm -f "$output/$2"; }
export_to junit duel.xml
where=(--sources "$root")
[[ -z $at ]] || where+=(--at "$at")
export_to sarif duel.sarif "${where[@]}"
[[ -z ${GITHUB_STEP_SUMMARY:-} ]] || cat "$output/duel.md" >>"$GITHUB_STEP_SUMMARY"
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
  printf '%s=%s\n' code "$code" verdict "$verdict" folder "$output" base "$base" new "$new" >>"$GITHUB_OUTPUT"
fi
case $fail_on:$code in
  regressed:[24] | never:[124])
    [[ ${GITHUB_ACTIONS:-} != true ]] || echo "::warning::the duel is $verdict: see the summary"
    exit 0
    ;;
esac
exit "$code"
