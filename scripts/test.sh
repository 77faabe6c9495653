#!/usr/bin/env bash
# Installs what is missing, builds and runs every test, and closes with "N passed, N failed, N skipped".
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/test.sh [--quick | --all] [--asan | --no-asan] [--fuzz SECONDS] [options of ctest]
       scripts/test.sh -k EXPRESSION [--asan | --no-asan] [options of ctest]

Installs the Debian packages that are missing and runs the tests: in the release build, in a build with AddressSanitizer
and UndefinedBehaviorSanitizer; who uses whom, by layers.txt; and the layout of the code if clang-format 14 is there. The
tests of what is never measured (harness/, ladders/, datasets/, support/) run in the sanitized build only; with --no-asan
or --quick, in the release build. The slowest 30 are listed, and the last line gives the totals. How long it takes:
docs/use/ci.md.

The GoogleTests of a folder run in one process. To ctest they are one test: -R googletest.devices

  --quick         what every change passes: only the release build, without what takes longest (the label `slow`)
  --all           for the night: also what takes minutes and is rare (the label `long`); with sanitizers everything; and
                  builds, links and runs the bundle and the package
  --asan          only the sanitized build
  --no-asan       without the sanitized build
  --fuzz SECONDS  also run each libFuzzer target for SECONDS (needs clang), and random kernels against a CPU emulation
                  (tests/fuzz/random_kernels.py, needs nvcc)
  -k EXPRESSION   only the tests of pytest whose names match, as with pytest's own -k, and nothing else; builds only the
                  programs that they run. The sanitized build leaves out those of the scripts

examples:
  scripts/test.sh --quick
  scripts/test.sh
  scripts/test.sh --no-asan -R harness    only tests whose name matches
  scripts/test.sh --no-asan -k "hostile_names and not charts"
  scripts/test.sh --fuzz 300

environment:
  CONVLADDER_NO_SETUP=1   do not look for missing packages

exit status: 0 every test passed or was skipped with a reason, 1 otherwise.
USAGE
}

release=true
asan=true
all=false
quick=false
fuzz_seconds=0
names=
ctest_options=()
while (($#)); do
  case "$1" in
    --asan) release=false ;;
    --no-asan) asan=false ;;
    --all) all=true ;;
    --quick) quick=true ;;
    --fuzz)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--fuzz needs a number of seconds"
      fuzz_seconds="$2"
      shift
      ;;
    -k)
      [[ -n ${2:-} ]] || fail "-k needs an expression, for example -k hostile_names"
      names=$2
      shift
      ;;
    --help | -h) usage && exit ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done
$release || $asan || fail "--asan and --no-asan leave no test"
if $quick; then
  ! $all || fail "--quick and --all are two speeds: leave out one of them"
  $release || fail "--quick has no sanitized build: leave out --asan"
  asan=false
fi
if [[ -n $names ]]; then
  ((fuzz_seconds == 0)) || fail "-k runs tests of pytest only: leave out --fuzz"
  ! $quick || fail "-k chooses the tests: leave out --quick"
  for option in "${ctest_options[@]}"; do
    [[ $option != -R* && $option != --tests-regex* ]] || fail "-k chooses the tests: leave out $option"
  done
fi

if $all; then export CONVLADDER_ALL_TESTS=1; fi

trap 'echo >&2; exit 130' INT
setup_options=(--tests)
((fuzz_seconds == 0)) || setup_options+=(--fuzz)
[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" "${setup_options[@]}" || exit 1

# The preset's compiler is clang, which takes about half of GCC's time where every access is checked.
if $asan && [[ ! -f $root/build/asan-ubsan/build.ninja ]] &&
  ! clang++ -fopenmp -fsanitize=address,undefined -include omp.h -x c++ -o /dev/null - <<<'int main() {}' 2>/dev/null; then
  echo "test.sh: clang++ with OpenMP and sanitizers is not there: the sanitized build is by g++, which takes longer" >&2
  configure_preset asan-ubsan asan-ubsan -D CMAKE_CXX_COMPILER=g++
fi

reports=()
checks=()
targets=()  # what to build; everything if empty

# run_ctest NAME PRESET [OPTION...]: builds a preset and runs its tests.
run_ctest() {
  local name="$1" preset="$2" report
  shift 2
  build_preset "$preset" "${targets[@]}"
  report="$root/build/$preset/test_report.xml"
  rm -f "$report"
  # The results of single tests are read from the output, so no output is cut short. More tests at once than there are
  # cores: many of them wait for what they started. Those that tell something by times count as several.
  (cd "$root" && ctest --preset "$preset" --parallel "$(($(nproc) + 2))" --no-tests=error --output-junit "$report" \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000 "$@" "${ctest_options[@]}") || true
  reports+=("$name=$report")
}

run_fuzz() {
  local target corpus format inputs
  build_preset fuzz convladder_fuzz_targets
  for target in "$root"/build/fuzz/tests/fuzz/*_fuzz; do
    corpus=$(mktemp -d)
    format=${target##*/}
    format=${format%%_*}
    inputs=(.)
    [[ ! -d $root/tests/fuzz/corpus/$format ]] || inputs+=("$root/tests/fuzz/corpus/$format")
    [[ ! -f $root/tests/fuzz/$format.dict ]] || inputs+=(-dict="$root/tests/fuzz/$format.dict")
    [[ $format != ptx ]] || inputs+=("$root/docs/examples")
    if (cd "$corpus" && "$target" -max_total_time="$fuzz_seconds" -print_final_stats=1 "${inputs[@]}" \
      >"$target.log" 2>&1); then
      checks+=(--check "fuzz: ${target##*/}=passed")
    else
      tail -n 30 "$target.log"
      checks+=(--check "fuzz: ${target##*/}=failed")
    fi
    rm -rf "$corpus"
  done
  run_random_kernels
}

# Kernels against a CPU emulation: compiled by nvcc, run by the release build, and so no target of libFuzzer.
run_random_kernels() {
  local log status=0
  build_preset release convladder
  log=$(mktemp)
  "$root/tests/fuzz/random_kernels.py" --count 1000000 --seconds "$fuzz_seconds" --seed "$(date +%s)" >"$log" 2>&1 || status=$?
  case $status in
    0) checks+=(--check "fuzz: random_kernels=passed") ;;
    77) checks+=(--check "fuzz: random_kernels=skipped:nvcc is missing") ;;
    *)
      tail -n 30 "$log"
      checks+=(--check "fuzz: random_kernels=failed")
      ;;
  esac
  rm -f "$log"
}

# files_with_names FOLDER: the files of tests/FOLDER with a test that $names chooses, as ctest calls them, a line each.
files_with_names() {
  local listed status=0
  listed=$(cd "$root/tests" && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider \
    --collect-only --continue-on-collection-errors -k "$names" "$1" 2>&1) || status=$?
  if ((status == 4)); then fail "-k: $(sed -n 's/^ERROR: //p' <<<"$listed")"; fi
  # A file that asks the program for its tests cannot be listed before that is built. It may have one.
  sed -nE 's!^(ERROR )?([a-z_]+/)+test_([A-Za-z0-9_]+)\.py.*!\3!p' <<<"$listed" | sort -u | sed "s/^/pytest.$1./"
}

if [[ -n $names ]]; then
  /usr/bin/python3 -c 'import pytest' 2>/dev/null || fail "Debian's python3-pytest is not installed"
  folders=(end_to_end)
  ! $release || folders+=(scripts)
  chosen=
  for folder in "${folders[@]}"; do
    files=$(files_with_names "$folder") || exit 1
    chosen+=$files$'\n'
  done
  mapfile -t chosen < <(grep . <<<"$chosen")
  ((${#chosen[@]} > 0)) || fail "no test of pytest has a name that matches '$names'"
  [[ " ${chosen[*]}" == *" pytest.end_to_end."* ]] || asan=false
  pattern=$(IFS='|' && echo "^(${chosen[*]//./\\.})\$")
  export CONVLADDER_PYTEST_NAMES=$names
  targets=(convladder_pytest_programs)
  if $release; then run_ctest release release --tests-regex "$pattern"; fi
  if $asan; then run_ctest sanitized asan-ubsan --tests-regex "$pattern" --exclude-regex '^pytest\.scripts\.'; fi
  exec /usr/bin/python3 "$root/scripts/test_summary.py" "${reports[@]}"
fi

for check in layers comments; do
  if "$root/scripts/lint.sh" "--$check"; then checks+=(--check "$check=passed"); else checks+=(--check "$check=failed"); fi
done
status=0
"$root/scripts/lint.sh" --format || status=$?
case $status in
  0) checks+=(--check "clang-format=passed") ;;
  77) checks+=(--check "clang-format=skipped:clang-format 14 is not there") ;;
  *) checks+=(--check "clang-format=failed") ;;
esac

left_out=(long)  # labels
! $all || left_out=()
! $quick || left_out+=(slow)

# without LABEL...: ctest's option that leaves tests out by their labels and its value, a line each; nothing without labels.
without() { (($# == 0)) || (IFS='|' && printf '%s\n' --label-exclude "^($*)\$"); }

if $release; then
  # The tests of what is never measured run in one build where both run: the one with sanitizers.
  labels=("${left_out[@]}")
  if $asan && ((${#ctest_options[@]} == 0)); then
    targets=(convladder convladder_optimised_tests)
    labels+=(unmeasured)
  fi
  mapfile -t options < <(without "${labels[@]}")
  run_ctest release release "${options[@]}"
  targets=()
fi
# The scripts are Python: sanitizers see nothing of them.
if $asan; then
  $all || targets=(convladder convladder_short_tests)
  mapfile -t options < <(without "${left_out[@]}")
  run_ctest sanitized asan-ubsan --exclude-regex '^pytest\.scripts\.' "${options[@]}"
fi
if ((fuzz_seconds > 0)); then run_fuzz; fi
/usr/bin/python3 "$root/scripts/test_summary.py" --slowest 30 "${checks[@]}" "${reports[@]}"
