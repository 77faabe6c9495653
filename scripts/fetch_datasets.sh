#!/usr/bin/env bash
# Puts MNIST and Fashion-MNIST into the cache that convladder looks in, every file checked by its published checksum.
set -euo pipefail

readonly program="${0##*/}"
readonly all_sets=(fashion-mnist mnist)

# Tried in this order until one delivers a file with the right checksum.
# shellcheck disable=SC2034  # download_file refers to them by name
readonly mnist_mirrors=(
  https://ossci-datasets.s3.amazonaws.com/mnist
  https://storage.googleapis.com/cvdf-datasets/mnist
  http://yann.lecun.com/exdb/mnist
)
# shellcheck disable=SC2034
readonly fashion_mnist_mirrors=(
  http://fashion-mnist.s3-website.eu-central-1.amazonaws.com
  https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion
)

readonly files=(
  train-images-idx3-ubyte
  train-labels-idx1-ubyte
  t10k-images-idx3-ubyte
  t10k-labels-idx1-ubyte
)

usage() {
  cat <<EOF
usage: $program [--from DIR] [--cache DIR] [mnist] [fashion-mnist]

Downloads the named data sets (both if none is named) as gzipped IDX files into
the cache, a folder for each set. Files that already exist and have the right checksum are left alone.

  --from DIR   take the files from DIR (or DIR/mnist, DIR/fashion-mnist) instead of downloading;
               if no set is named, all sets that are in DIR
  --cache DIR  where to put them, instead of \$XDG_CACHE_HOME/convladder/datasets
               or ~/.cache/convladder/datasets
  --help       this text

examples:
  $program                          # both sets, about 42 MB
  $program fashion-mnist
  $program --from ~/downloads/mnist mnist
EOF
}

fail() {
  echo "$program: $*" >&2
  exit 1
}

# expected_checksum SET FILE: MNIST's are SHA-256 of the unpacked file, because mirrors pack it differently;
# Fashion-MNIST's are MD5 of the packed file, as its authors publish them.
expected_checksum() {
  case "$1/$2" in
    mnist/train-images-idx3-ubyte) echo ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db ;;
    mnist/train-labels-idx1-ubyte) echo 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 ;;
    mnist/t10k-images-idx3-ubyte) echo 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 ;;
    mnist/t10k-labels-idx1-ubyte) echo ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 ;;
    fashion-mnist/train-images-idx3-ubyte) echo 8d4fb7e6c68d591d4c3dfef9ec88bf0d ;;
    fashion-mnist/train-labels-idx1-ubyte) echo 25c81989df183df01b3e8a0aad5dffbe ;;
    fashion-mnist/t10k-images-idx3-ubyte) echo bef4ecab320f06d8554ea6380940ec79 ;;
    fashion-mnist/t10k-labels-idx1-ubyte) echo bb300cfdad3c16e7a12a480ee83cd310 ;;
  esac
}

# actual_checksum SET PATH, or a word that no checksum equals where it cannot be unpacked
actual_checksum() {
  case "$1" in
    mnist) { gzip -dc <"$2" 2>/dev/null || echo corrupt; } | sha256sum | cut -d ' ' -f 1 ;;
    fashion-mnist) md5sum <"$2" | cut -d ' ' -f 1 ;;
  esac
}

# is_sound SET FILE PATH: whether PATH holds the set's FILE, packed
is_sound() {
  [[ -f $3 && -r $3 && $(actual_checksum "$1" "$3") == "$(expected_checksum "$1" "$2")" ]]
}

cleanup() {
  [[ -z ${partial:-} ]] || rm -f -- "$partial"
}

# install_file SET FILE SOURCE COMMAND...: runs the command, which is to write the file to $partial; moves it into place
# once its checksum is right, and leaves nothing behind otherwise.
install_file() {
  local set="$1" file="$2" source="$3" target="$cache/$1/$2.gz"
  shift 3
  mkdir -p -- "$cache/$set" 2>/dev/null || fail "$cache/$set cannot be created"
  partial=$(mktemp -- "$cache/$set/.$file.XXXXXX" 2>/dev/null) || fail "$cache/$set cannot be written to"
  if ! "$@"; then
    problem="$source: could not be fetched into $cache/$set"
  elif ! is_sound "$set" "$file" "$partial"; then
    problem="$source: not $set's $file (its checksum is $(actual_checksum "$set" "$partial"), expected $(
      expected_checksum "$set" "$file"))"
  elif ! { chmod 644 -- "$partial" && mv -fT -- "$partial" "$target"; } 2>/dev/null; then
    problem="$target: cannot be written"
  else
    partial=
    echo "$target"
    return 0
  fi
  rm -f -- "$partial"
  partial=
  return 1
}

download() { curl --fail --silent --location --retry 2 --connect-timeout 15 --max-time 900 --output "$partial" -- "$1"; }
copy_packed() { cp -- "$1" "$partial" 2>/dev/null; }
copy_plain() { gzip -nc <"$1" 2>/dev/null >"$partial"; }

download_file() {
  local set="$1" file="$2" mirror
  local -n mirrors="${set//-/_}_mirrors"
  local problems=()
  for mirror in "${mirrors[@]}"; do
    install_file "$set" "$file" "$mirror/$file.gz" download "$mirror/$file.gz" && return
    problems+=("$problem")
  done
  fail "$set: no mirror delivered $file.gz: $(printf '%s; ' "${problems[@]}")try --from DIR with your own files"
}

copy_file() {
  local set="$1" file="$2" folder="$3"
  if [[ -e $folder/$file.gz ]]; then
    install_file "$set" "$file" "$folder/$file.gz" copy_packed "$folder/$file.gz" || fail "$problem"
  elif [[ -e $folder/$file && $set == mnist ]]; then
    install_file "$set" "$file" "$folder/$file" copy_plain "$folder/$file" || fail "$problem"
  else
    fail "$folder: no $file.gz in it"
  fi
}

# folder_of SET: where under --from the set's files are
folder_of() {
  if [[ -d $from/$1 ]]; then echo "$from/$1"; else echo "$from"; fi
}

# holds SET: whether at least one sound file of the set is under --from
holds() {
  local file folder
  folder=$(folder_of "$1")
  for file in "${files[@]}"; do
    is_sound "$1" "$file" "$folder/$file.gz" && return 0
    [[ $1 == mnist && -f $folder/$file && $(sha256sum <"$folder/$file") == "$(expected_checksum "$1" "$file")  -" ]] &&
      return 0
  done
  return 1
}

from=
cache=
sets=()
while (($#)); do
  case "$1" in
    --help | -h) usage && exit ;;
    --from | --cache)
      [[ -n ${2:-} ]] || fail "$1 needs a folder"
      if [[ $1 == --from ]]; then from="$2"; else cache="$2"; fi
      shift
      ;;
    mnist | fashion-mnist) sets+=("$1") ;;
    *) fail "unknown argument '$1', see --help" ;;
  esac
  shift
done

if [[ -z $cache ]]; then
  if [[ ${XDG_CACHE_HOME:-} == /* ]]; then
    cache="$XDG_CACHE_HOME/convladder/datasets"
  else
    [[ -n ${HOME:-} ]] || fail "neither XDG_CACHE_HOME nor HOME is set, so there is no cache: name one with --cache DIR"
    cache="$HOME/.cache/convladder/datasets"
  fi
fi
if [[ -n $from ]]; then
  [[ -d $from ]] || fail "$from: no such folder"
elif ! command -v curl >/dev/null; then
  fail "curl is needed to download (package curl)"
fi
if ((${#sets[@]} == 0)); then
  for set in "${all_sets[@]}"; do
    if [[ -z $from ]] || holds "$set"; then sets+=("$set"); fi
  done
  ((${#sets[@]})) || fail "$from: no file of MNIST or Fashion-MNIST with the right checksum in it"
fi

trap cleanup EXIT  # bash also runs it when a signal ends the script
for set in "${sets[@]}"; do
  for file in "${files[@]}"; do
    if is_sound "$set" "$file" "$cache/$set/$file.gz"; then
      echo "$cache/$set/$file.gz (already there)"
    elif [[ -n $from ]]; then
      copy_file "$set" "$file" "$(folder_of "$set")"
    else
      download_file "$set" "$file"
    fi
  done
done
