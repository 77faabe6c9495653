#!/usr/bin/env bash
# Nsight Compute on one case: the counters of exactly the launches of a few calls of the convolution.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/profiled_case.sh
source "$root/scripts/profiled_case.sh"

usage() {
  cat <<'USAGE'
usage: scripts/ncu.sh --variant NAME (--layer NAME | --shape C,H,W,M,K[,stride[,padding]]) [options] [-- options of ncu]

Prints the ncu command for a case and runs it. The case is verified as always; the kernels of its calls in the NVTX
range "profile" are profiled, and no others: --launch-count is their exact number. The times of that run are not to be
used, because ncu runs every kernel many times. Clocks are left as they are (--clock-control none).

  --variant NAME   a variant of the cuda family, from 'convladder list'
  --layer NAME     lenet72.conv2
  --shape SHAPE    instead of a layer
  --batch N        images per call (default 100)
  --calls N        calls that are profiled (default 1)
  --output DIR     folder for the report and run.json (default results/profiles/<case>-<time>)
  --print-only     only print the command
  -- OPTIONS       go to ncu; the default is --set full --import-source yes. '-- --clock-control base' lets ncu hold the
                   clocks

examples:
  scripts/ncu.sh --variant shared-memory --layer lenet72.conv2 --batch 100
  scripts/ncu.sh --variant compile-time --layer lenet28.conv1 --batch 10000 --print-only
  scripts/ncu.sh --variant block-remap --layer lenet72.conv1 -- --section SpeedOfLight --section Occupancy

environment:
  CONVLADDER_PROGRAM   the program to profile (default: the installed one; in a source tree
                       build/release/convladder, built if it does not exist)

exit status: 0 done, or printed with --print-only; 1 the program could not be built, or ncu failed; 2 usage, or no such
case; 3 ncu is not installed: the command was printed.
USAGE
}

parse_case "$@"
find_program
count_launches
case_command
((${#profiler_options[@]})) || profiler_options=(--set full --import-source yes)
limit=()
[[ -z $launches ]] || limit=(--launch-count "$launches")
# Clocks stay as they are: ncu would hold them at their base, and nothing on the GPU is to be changed.
[[ " ${profiler_options[*]} " == *" --clock-control"* ]] || profiler_options+=(--clock-control none)
run_profiler ncu --nvtx --nvtx-include "convladder@profile/" "${limit[@]}" "${profiler_options[@]}" \
  --export "$output/$name" "${command[@]}"
