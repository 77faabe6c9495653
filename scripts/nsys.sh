#!/usr/bin/env bash
# Nsight Systems on one case: the timeline of exactly the launches of a few calls of the convolution, and its tables.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/profiled_case.sh
source "$root/scripts/profiled_case.sh"

usage() {
  cat <<'USAGE'
usage: scripts/nsys.sh --variant NAME (--layer NAME | --shape C,H,W,M,K[,stride[,padding]]) [options] [-- options of nsys]

Prints the nsys command for a case and runs it. The case is verified as always; nsys records from the beginning to the
end of the NVTX range "profile", which holds the calls of the convolution and nothing else, and prints its tables of
kernels and API calls.

  --variant NAME   a variant of the cuda family, from 'convladder list'
  --layer NAME     lenet72.conv2
  --shape SHAPE    instead of a layer
  --batch N        images per call (default 100)
  --calls N        calls that are recorded (default 1)
  --output DIR     folder for the report and run.json (default results/profiles/<case>-<time>)
  --print-only     only print the command
  -- OPTIONS       go to 'nsys profile'; the default records the range. '-- --trace=cuda,nvtx' records the whole run

examples:
  scripts/nsys.sh --variant shared-memory --layer lenet72.conv2 --batch 1000 --calls 20
  scripts/nsys.sh --variant compile-time --layer lenet28.conv1 --print-only
  scripts/nsys.sh --variant block-remap --layer lenet72.conv1 -- --trace=cuda,nvtx,osrt

environment:
  CONVLADDER_PROGRAM   the program to profile (default: the installed one; in a source tree
                       build/release/convladder, built if it does not exist)

exit status: 0 done, or printed with --print-only; 1 the program could not be built, or nsys failed; 2 usage, or no such
case; 3 nsys is not installed: the command was printed.
USAGE
}

parse_case "$@"
find_program
count_launches
case_command
# The variable: nsys otherwise waits only for ranges whose names were registered.
((${#profiler_options[@]})) ||
  profiler_options=('--trace=cuda,nvtx' --capture-range=nvtx --nvtx-capture=profile@convladder --capture-range-end=stop
                    --env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0)
[[ -z $launches ]] || echo "$launches launches are expected in it" >&2
run_profiler nsys profile "${profiler_options[@]}" --stats=true --output="$output/$name" "${command[@]}"
