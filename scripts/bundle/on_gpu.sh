#!/usr/bin/env bash
# Everything that this bundle can show on a GPU, in one folder. A part that fails does not stop the others, what is
# finished is not measured again, and there is an archive whatever ends it.
set -uo pipefail

# shellcheck source=scripts/bundle/program.sh
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
# shellcheck source=scripts/bundle/parts.sh
source "$here/parts.sh"
# shellcheck source=scripts/bundle/run_parts.sh
source "$here/run_parts.sh"

usage() {
  cat <<'USAGE'
usage: ./on_gpu.sh [--quick] [--minutes N] [--only PART,...] [--output DIR | --resume DIR] [--dry-run] [--without-gpu]

Measures everything in this bundle on the first visible GPU (CUDA_VISIBLE_DEVICES chooses another) and packs it:

  environment    machine, driver, clocks; nothing is ever changed on the GPU
  verified       every CUDA stage on every layer, and on awkward shapes, at batches 1, 3 and 8, against float64
  ladder         the layers of lenet28, lenet72 and lenet86 at batches 100, 1000 and 10000: all stages, those on tensor
                 cores among them, with cuDNN beside them (fp32, tf32, NCHW, NHWC, Winograd and FFT), caches hot and
                 cold, ceilings and floors
  networks       whole networks: op times and where the time goes
  overlap        the same networks with copies beside kernels
  fused          convolution, activation and pooling in one kernel, beside what it replaces
  leave-one-out  the best fp32 stage without one of its ideas at a time
  others         the layers of lenet48, lenet64 and lenet70 at batch 1000
  alexnet        AlexNet's five layers at batches 16 and 128
  profiles       kernels, copies and API calls of whole networks, if CUPTI is there; a timeline, if nsys is
  sweep          tile sizes of four stages by measured time, for the tables of a clone
  counted        the counters of the simulated device for the same kernels (on the CPU)
  ncu            Nsight Compute's counters of some of these kernels, if ncu is installed and allowed to count
  goals          which goals are met
  charts         charts, tables and report.html, where Python has matplotlib and Jinja2

It writes results/<device>-<date>/ below the current folder, and the same as results/<device>-<date>.tar.gz: unpack that
below results/ of a clone to commit it. The archive is renewed after every part, every few seconds while a part has more,
and when a signal or a hang-up ends the run: a kill leaves a whole one. At the end, and in the folder's README.md, it says
what could not be done, in this call or one before, and why.

  --quick           one batch, less time for each case, fewer of them: minutes; to see whether everything works
  --minutes N       ends in N minutes: takes parts in this order, quick ones where the whole part does not fit, leaves
                    out what does not fit at all, and stops a part that takes too long; 'verified' has a fourth at most
  --only PART,...   only these parts
  --output DIR      another folder, which must not exist yet
  --resume DIR      goes on in the folder of a run that was ended: what is finished there is not measured again
  --dry-run         only prints the parts with the time that the program predicts of each
  --without-gpu     on a machine without a GPU: the CPU ladder and the counters of the simulated device

examples:
  ./on_gpu.sh --quick                            does everything work here?
  ./on_gpu.sh --minutes 60                       as much as an hour allows
  ./on_gpu.sh --only ladder,ncu,goals
  nohup ./on_gpu.sh &                            goes on when the connection is lost
  ./on_gpu.sh --resume results/nvidia-h100-...   goes on where it was ended

cuDNN and cuBLAS are not included: they are used if the dynamic linker finds them, in the CUDA toolkit's folders, or in
Python's packages (nvidia-cudnn-cu13, nvidia-cublas; -cu12 for a bundle of a CUDA 12 toolkit).

exit status: 0 all parts that were planned are done; 1 some failed or were cut short, the others are done; 2 usage;
3 no GPU, nothing was done; 129, 130 or 143 ended by a hang-up, an interrupt or a termination: what is done is packed.
USAGE
}

usage_error() {
  echo "on_gpu.sh: $*, see --help" >&2
  exit 2
}

quick=false without_gpu=false dry_run=false output='' resume='' minutes='' only=''
while (($#)); do
  case "$1" in
    --quick) quick=true ;;
    --without-gpu) without_gpu=true ;;
    --dry-run) dry_run=true ;;
    --output | --resume | --minutes | --only)
      [[ -n ${2:-} ]] || usage_error "$1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    --output=* | --resume=* | --minutes=* | --only=*) name="${1%%=*}" && printf -v "${name#--}" %s "${1#*=}" ;;
    --help | -h) usage && exit ;;
    *) usage_error "unknown argument '$1'" ;;
  esac
  shift
done
[[ -z $minutes || $minutes =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--minutes: expected 1 to 9999, got '$minutes'"
[[ -z $output || -z $resume ]] || usage_error "--output and --resume: only one of them"

program="$here/convladder"
# What `convladder list --machine` says of the CUDA device: its name, or why there is none.
of_cuda_device() { "$program" list --machine | awk '/^device /{cuda = ($2 == "cuda")} cuda && /^  /{sub("^  ", ""); print}'; }

# why_no_gpu: one line, with the driver's version where anybody knows it.
why_no_gpu() {
  local why driver
  why=$(of_cuda_device | head -n 1)
  why="${why:-no CUDA device, and no CUDA variants in this bundle}"
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
  [[ ! $driver =~ ^[0-9.]+$ || $why == *"$driver"* ]] || why+="; nvidia-smi: driver $driver"
  if [[ $why == *"this program needs CUDA 1"[3-9]* && ${driver%%.*} =~ ^5(2[5-9]|[3-7][0-9])$ ]]; then
    why+="; a bundle of a CUDA 12 toolkit runs with it (scripts/bundle.sh --toolkit)"
  fi
  echo "$why; --without-gpu runs the parts that need no GPU"
}

use_nvidia_libraries
if $without_gpu; then
  device=cpu
  title="$(uname -n)-without-gpu"
else
  device=cuda
  title=$(of_cuda_device | sed -n 's/^name  *//p')
  if [[ -z $title ]]; then
    echo "on_gpu.sh: $(why_no_gpu)" >&2
    exit 3
  fi
fi

if [[ -n $resume ]]; then
  [[ -f $resume/log/settings ]] || usage_error "--resume: $resume is no folder of on_gpu.sh"
  { read -r was_quick && read -r was_title; } <"$resume/log/settings"
  [[ $was_title == "$title" ]] || usage_error "--resume: $resume is of $was_title, this is $title"
  [[ $was_quick != true ]] || quick=true
  output="$resume"
fi
choose_parts
if $dry_run; then
  print_plan
  exit
fi
if [[ -z $output ]]; then
  output="results/$(tr '[:upper:] ' '[:lower:]-' <<<"$title" | sed 's/[^a-z0-9.-]//g')-$(date +%Y%m%d-%H%M%S)"
fi
[[ -n $resume || ! -e $output ]] || usage_error "$output is there already; --resume goes on in it"
mkdir -p -- "$output/log/state" || exit 1
output=$(cd -- "$output" && pwd)
printf '%s\n' "$quick" "$title" >"$output/log/settings"

print_plan
run_all_parts
finish
