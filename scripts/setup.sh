#!/usr/bin/env bash
# Installs the Debian packages that convladder needs and that are missing, and only those.
set -euo pipefail

# group  package  what it is for
needed=(unknown)  # the missing packages of the wanted groups
readonly packages="
build   g++                 the C++ compiler
build   cmake               the build
build   ninja-build         the build
build   libbenchmark-dev    Google Benchmark, the timing engine
build   nlohmann-json3-dev  the record of a run
build   libcli11-dev        the command line
build   libfmt-dev          messages
build   libgtest-dev        the tests are part of the build
build   libgmock-dev        the tests are part of the build
build   libdnnl-dev         oneDNN, the library beside the CPU ladder
build   zlib1g-dev          gzipped IDX files
build   libzstd-dev         kernels in programs, for the stand-in of the CUDA runtime
build   liblz4-dev          kernels in programs, for the stand-in of the CUDA runtime
build   libssl-dev          checksums of data sets
build   libopenblas-serial-dev  BLAS and LAPACK, for the stand-ins of cuBLAS and cuSOLVER
build   libfftw3-dev        Fourier transforms, for the stand-in of cuFFT
rivals  libxnnpack-dev      XNNPACK, a library beside the CPU ladder
rivals  libpthreadpool-dev  XNNPACK's threads
charts  python3             charts and tables
charts  python3-matplotlib  charts
charts  python3-numpy       charts
charts  python3-jinja2      reports
tests   python3-pytest      the tests of the scripts and of the whole program
tests   python3-jsonschema  checking a record against its schema
lint    clang-format        the layout of the code
lint    clang-tidy          the linter
package dpkg-dev            what a package depends on
package file                what a package depends on
fuzz    clang               libFuzzer, and the CUDA kernels where nvcc is missing
asan    clang               the build with sanitizers, in less time than GCC
asan    libclang-rt-dev     clang's sanitizers
asan    libomp-dev          clang's OpenMP
slurm   munge               telling who a message of Slurm is from
slurm   slurmctld           Slurm's controller
slurm   slurmd              Slurm's nodes
slurm   slurm-client        sbatch, squeue and scontrol
"

usage() {
  cat <<USAGE
usage: scripts/setup.sh [--rivals] [--charts] [--tests] [--lint] [--fuzz] [--package] [--list]
       scripts/setup.sh --slurm | --slurm-stop

Installs the Debian packages that building convladder needs and that are missing. Does nothing, and says nothing,
if none is. Needs root or sudo only where something is missing.

  --rivals  also XNNPACK, for a library more beside the CPU ladder (docs/reference/cpu.md has two more)
  --charts  also the packages for the charts
  --tests   also the packages for the charts and the tests; and clang with its sanitizers and its OpenMP, and lld, which
            build the tests' programs in less time
  --lint    also the packages for scripts/lint.sh
  --fuzz    also the packages for scripts/test.sh --fuzz
  --package also the packages for scripts/package.sh
  --list    only print the missing packages, one per line
  --slurm   only the packages of Slurm; starts a Slurm of two nodes on this machine alone, in a folder of its own, and
            prints the line that a shell needs to use it. Does nothing but that where it runs already
  --slurm-stop  takes that Slurm down

If nvcc is missing, clang is installed, if possible, to compile the CUDA variants.

environment:
  CONVLADDER_SLURM_DIR   the folder of that Slurm (default /tmp/convladder-slurm-<user's number>)

exit status: 0 all needed packages are installed, 1 some are still missing, 2 usage.
USAGE
}

groups=(build)
list=false
slurm=false
slurm_folder=${CONVLADDER_SLURM_DIR:-/tmp/convladder-slurm-$UID}
local_cluster=$(dirname "${BASH_SOURCE[0]}")/slurm/local_cluster.sh
for argument in "$@"; do
  case "$argument" in
    --rivals) groups+=(rivals) ;;
    --charts) groups+=(charts) ;;
    --tests) groups+=(charts tests) ;;
    --lint) groups+=(lint) ;;
    --fuzz) groups+=(fuzz) ;;
    --package) groups+=(package) ;;
    --list) list=true ;;
    --slurm) slurm=true ;;
    --slurm-stop) exec "$local_cluster" stop "$slurm_folder" ;;
    --help | -h) usage && exit ;;
    *) echo "setup.sh: unknown argument '$argument', see --help" >&2 && exit 2 ;;
  esac
done

if $slurm; then
  [[ ${groups[*]} == build ]] || { echo "setup.sh: --slurm installs nothing else: leave out the other options" >&2 && exit 2; }
  groups=(slurm)
fi

# finish: everything is installed.
finish() {
  if $slurm && ! $list; then exec "$local_cluster" start "$slurm_folder"; fi
  exit 0
}

# missing GROUP...: the packages of these groups that dpkg does not have, one a line.
missing() {
  local wanted installed
  wanted=$(awk -v groups=" $* " 'index(groups, " " $1 " ") && !seen[$2]++ {print $2}' <<<"$packages")
  # shellcheck disable=SC2086,SC2016  # package names have no spaces; the format is dpkg-query's
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' || true)
  # Packages of several architectures can be listed twice.
  comm -23 <(sort -u <<<"$wanted") <(sort -u <<<"$installed")
}

# give_up REASON: names every package that is missing and what it is for.
# Where only clang or lld is missing that is no failure.
give_up() {
  echo "setup.sh: $1" >&2
  if ((${#needed[@]} == 0)); then
    echo "setup.sh: still missing, and not needed: ${optional[*]}" >&2
    $has_nvcc || [[ " ${optional[*]} " != *" clang "* ]] || echo "setup.sh: without nvcc and clang the CUDA variants are left out" >&2
    exit 0
  fi
  echo "setup.sh: still missing:" >&2
  while read -r package; do
    awk -v package="$package" '$2 == package {
      group = $1; $1 = $2 = ""; sub(/^ */, "")
      printf "  %-20s for %s%s\n", package, $0, group == "build" ? "" : " (" group ")"; exit }' <<<"$packages" >&2
  done < <(missing "${groups[@]}")
  exit 1
}

# A machine where these cannot be installed does without. Without nvcc, clang compiles the kernels; it is quicker than GCC where
# there are sanitizers, and lld than the linker that comes with the compiler.
optional=()
has_nvcc=true
command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]] || has_nvcc=false
if ! $slurm && ! $has_nvcc && ! command -v clang++ >/dev/null; then
  optional+=(clang)
  $list || echo "setup.sh: nvcc not found: clang will compile the CUDA variants, for the simulated device only" >&2
fi
if [[ " ${groups[*]} " == *" tests "* ]] && ! command -v ld.lld >/dev/null; then optional+=(lld); fi
if ! command -v dpkg-query >/dev/null; then
  give_up "this is not a Debian system: install these yourself, then set CONVLADDER_NO_SETUP=1"
fi

mapfile -t needed < <(missing "${groups[@]}")
if [[ " ${groups[*]} " == *" tests "* ]]; then mapfile -t -O "${#optional[@]}" optional < <(missing asan); fi
wanted=("${needed[@]}" "${optional[@]}")
if ((${#wanted[@]} == 0)); then finish; fi
if $list; then
  printf '%s\n' "${wanted[@]}" | sort -u
  exit 0
fi

command -v apt-get >/dev/null || give_up "there is no apt-get"
apt_get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120)
if ((EUID != 0)); then
  command -v sudo >/dev/null || give_up "installing needs root or sudo"
  if [[ -t 0 ]]; then apt_get=(sudo "${apt_get[@]}"); else apt_get=(sudo -n "${apt_get[@]}"); fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A list that could not be updated may still do.
"${apt_get[@]}" update >"$log" 2>&1 </dev/null || true
# install PACKAGE...
install() {
  echo "setup.sh: installing $*" >&2
  if ! "${apt_get[@]}" install --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
    grep -E '^(E:|W:|sudo:)' "$log" | tail -n 5 >&2 || tail -n 5 "$log" >&2
    give_up "apt-get could not install them"
  fi
}
if ((${#needed[@]} > 0)); then
  install "${needed[@]}"
  mapfile -t needed < <(missing "${groups[@]}")
  ((${#needed[@]} == 0)) || give_up "apt-get succeeded, and yet"
fi
# On their own, so that nothing else depends on them.
if ((${#optional[@]} > 0)); then install "${optional[@]}"; fi
finish
