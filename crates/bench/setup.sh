#!/bin/sh
# Debian packages of the benchmarks: valgrind counts instructions; UMFPACK is for the feature `umfpack` only.
# usage: setup.sh [umfpack]
set -eu
packages=valgrind
[ "${1:-}" != umfpack ] || packages="$packages libsuitesparse-dev pkg-config"
apt-get update
# shellcheck disable=SC2086
apt-get install -y --no-install-recommends $packages
