#!/usr/bin/env bash
# The counter gate, for any continuous integration: from a fresh clone to an exit status.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
usage: scripts/ci_counters.sh [options of 'convladder baseline check']

Installs the Debian packages that are missing, builds the program, and compares what the simulated device counts of
every CUDA variant with results/baseline, exactly. No GPU and no nvcc are needed: without nvcc, clang compiles the
kernels. In a job of GitHub Actions the outcome is also written to the job's summary.

examples:
  scripts/ci_counters.sh
  scripts/ci_counters.sh --all               AlexNet as well
  scripts/ci_counters.sh --compiler clang

environment:
  CONVLADDER_NO_SETUP=1   do not look for missing packages

exit status: 0 every counter is what was recorded, 1 a counter moved, 2 a case has no baseline (it is new, missing, or
its compiler is another), 3 the gate itself failed.
USAGE
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then usage && exit; fi

trap 'echo >&2; exit 130' INT
[[ -n ${CONVLADDER_NO_SETUP:-} ]] || "$root/scripts/setup.sh" || exit 3
(build_preset release convladder) || exit 3
check=("$root/build/release/convladder" baseline check --folder "$root/results/baseline" "$@")
if [[ -z ${GITHUB_STEP_SUMMARY:-} ]]; then
  exec "${check[@]}"
fi
"${check[@]}" --format markdown | tee -a "$GITHUB_STEP_SUMMARY"
