#!/usr/bin/env bash
# clang-format and clang-tidy over the C++ and CUDA sources.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly clang_format_version=14  # other versions lay out the same code differently

usage() {
  cat <<'USAGE'
usage: scripts/lint.sh [--format | --tidy] [--fix] [--changed | FILE...]

Checks the layout of the C++ and CUDA sources with clang-format, and the C++ sources with clang-tidy. Every finding is
an error. All files take several minutes; clang-tidy needs the compile commands of build/debug, and configures it.

  --format   only clang-format (seconds)
  --tidy     only clang-tidy
  --fix      lets clang-format rewrite the files
  --changed  only files that differ from the last commit
  FILE...    only these

exit status: 0 clean, 1 findings, 77 the right clang-format is not there (with --format).
USAGE
}

format=true
tidy=true
fix=false
changed=false
files=()
while (($#)); do
  case "$1" in
    --format) tidy=false ;;
    --tidy) format=false ;;
    --fix) fix=true ;;
    --changed) changed=true ;;
    --help | -h) usage && exit ;;
    -*) fail "unknown argument '$1', see --help" ;;
    *) files+=("$(realpath -e -- "$1")") || fail "$1: no such file" ;;
  esac
  shift
done

cd "$root"
if $changed; then
  mapfile -t files < <(git diff --name-only --diff-filter=d HEAD; git ls-files --others --exclude-standard)
elif ((${#files[@]} == 0)); then
  mapfile -t files < <(git ls-files)
fi
sources=()
for file in "${files[@]}"; do
  if [[ $file =~ \.(cpp|hpp|cu|cuh)$ && -f $file ]]; then sources+=("$file"); fi
done
if ((${#sources[@]} == 0)); then
  echo "lint.sh: no C++ or CUDA file to check"
  exit 0
fi

status=0
if $format; then
  if ! clang-format --version 2>/dev/null | grep -q "version $clang_format_version\."; then
    echo "lint.sh: clang-format $clang_format_version is not there (scripts/setup.sh --lint installs it)" >&2
    exit 77
  fi
  if $fix; then
    clang-format -i "${sources[@]}"
  else
    clang-format --dry-run -Werror "${sources[@]}" || status=1
  fi
fi
if $tidy; then
  command -v clang-tidy >/dev/null || fail "clang-tidy is not there (scripts/setup.sh --lint installs it)"
  [[ -f build/debug/compile_commands.json ]] || cmake --preset debug >/dev/null
  # clang does not know this nvcc's flags, headers are checked through the sources that include them, and a libFuzzer
  # target is not in the release build.
  printf '%s\n' "${sources[@]}" | grep '\.cpp$' | grep -v '^tests/fuzz/' |
    xargs -r -P "$(nproc)" -n 2 clang-tidy --quiet -p build/debug --extra-arg=-Wno-unknown-warning-option \
      2> >(grep -v -E 'warnings? generated\.$|^Suppressed |^Use -header-filter' >&2) || status=1
fi
exit "$status"
