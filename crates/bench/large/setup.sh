#!/bin/sh
# IDA of SUNDIALS as a program in the folder given. usage: large/setup.sh [FOLDER]      installs SUNDIALS by apt where it is missing
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${CARGO_TARGET_DIR:-$here/../target}/large}
mkdir -p "$folder"
[ -f /usr/include/ida/ida.h ] || {
    apt-get update
    apt-get install -y --no-install-recommends gcc libsundials-dev libsuitesparse-dev
}
gcc -O3 -march=native "$here/ida.c" -o "$folder/ida" -I/usr/include/suitesparse \
    -lsundials_ida -lsundials_nvecserial -lsundials_sunlinsolklu -lsundials_sunlinsolband -lsundials_sunmatrixsparse -lsundials_sunmatrixband -lm
