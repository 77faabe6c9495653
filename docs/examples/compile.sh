#!/usr/bin/env bash
# Makes the .ptx files here from the .cu files, with nvcc. Source files are named without their folders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for source in *.cu; do
  nvcc -ptx -arch=compute_75 -lineinfo "$source" -o "${source%.cu}.ptx"
  sed -i -E 's|^(\s*\.file\s+[0-9]+ )".*/|\1"|' "${source%.cu}.ptx"
done
