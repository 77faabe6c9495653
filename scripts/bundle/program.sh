# What the bundle's scripts share; sourced, never run. Sets `here`, the bundle's folder, and `python`, one that has
# matplotlib, or any Python 3, or nothing; makes the program start. `use_nvidia_libraries` finds what is not in the bundle.
# shellcheck shell=bash disable=SC2034  # the scripts that source this use the variables

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# One line where the machine's C library is older than what the bundle was built with.
if [[ -f $here/lib/glibc-version ]]; then
  needed=$(<"$here/lib/glibc-version")
  there=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
  if [[ $(printf '%s\n' "$needed" "${there:-0}" | sort -V | head -n 1) != "$needed" ]]; then
    echo "${0##*/}: this bundle needs glibc $needed or later; this machine has ${there:-another C library}" >&2
    exit 1
  fi
fi

# Uses the bundled compiler libraries if the machine's own are missing or too old.
if ! "$here/convladder" --version >/dev/null 2>&1; then
  export LD_LIBRARY_PATH="$here/lib/fallback${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  if ! problem=$("$here/convladder" --version 2>&1); then
    echo "${0##*/}: the program does not start here: ${problem%%$'\n'*}" >&2
    exit 1
  fi
fi

python='' has_matplotlib=false
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
  if "$candidate" -c 'import matplotlib' >/dev/null 2>&1; then
    python="$candidate" has_matplotlib=true
    break
  fi
  [[ -n $python ]] || ! "$candidate" -c '' >/dev/null 2>&1 || python="$candidate"
done

# use_nvidia_libraries: lets the program find cuDNN, cuBLAS and CUPTI where Python's packages or a toolkit keep them:
# nvidia/cudnn/lib, nvidia/cublas/lib, nvidia/cuda_cupti/lib, from CUDA 13 on nvidia/cu13/lib.
use_nvidia_libraries() {
  local folders='' toolkit folder
  if [[ -n $python ]]; then
    folders=$("$python" - 2>/dev/null <<'PYTHON'
import glob
import os
import site
import sys

bases = [*sys.path, *site.getsitepackages(), site.getusersitepackages()]
names = ("libcudnn.so*", "libcublas.so*", "libcupti.so*")
folders = [folder for base in bases for folder in sorted(glob.glob(os.path.join(base or ".", "nvidia", "*", "lib")))
           if any(glob.glob(os.path.join(folder, name)) for name in names)]
print(":".join(dict.fromkeys(folders)))
PYTHON
    )
  fi
  for toolkit in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [[ -n $toolkit ]] || continue
    for folder in "$toolkit/lib64" "$toolkit/extras/CUPTI/lib64"; do
      [[ ! -d $folder ]] || folders+="${folders:+:}$folder"
    done
  done
  [[ -z $folders ]] || export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders"
}
