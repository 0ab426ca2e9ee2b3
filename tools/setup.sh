#!/usr/bin/env bash
# Installs the Debian packages Talus builds and tests with. Does nothing, quickly, when all are there.
set -eu
packages=(
  g++ cmake ninja-build pkg-config ccache make
  libeigen3-dev libopenmpi-dev openmpi-bin libhdf5-openmpi-dev
  libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev libmuparser-dev
  libgtest-dev librapidcheck-dev libbenchmark-dev
  python3 python3-numpy python3-h5py python3-vtk9
)
# `setup.sh clang`: also what the thread sanitizer and the fuzzers need
[ "${1:-}" = clang ] && packages+=(clang libclang-rt-14-dev libomp-dev)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get > /dev/null; then
  echo "talus: these packages are missing and this is no Debian: ${missing[*]}" >&2
  exit 1
fi
sudo=""
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    sudo="sudo -n"
  else
    echo "talus: packages are missing and you are not root. Please run:" >&2
    echo "  sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
echo "installing ${#missing[@]} packages: ${missing[*]}"
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
