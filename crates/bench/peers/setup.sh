#!/bin/sh
# The classical codes as programs in the folder given, from source archives of the package registries; nothing of them is kept elsewhere.
# usage: peers/setup.sh [FOLDER]      needs python3 with pip and venv; installs gfortran where it is missing
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${CARGO_TARGET_DIR:-$here/../target}/peers}
mkdir -p "$folder"
cd "$folder"
command -v gfortran >/dev/null || {
    apt-get update
    apt-get install -y --no-install-recommends gfortran
}

# source archives; pip asks their setup scripts for names, which need these
[ -d python ] || {
    python3 -m venv python
    python/bin/pip --quiet install 'setuptools<60' wheel 'numpy<1.24' 'cython<3'
}
mkdir -p sources
# RADAU5 and RODAS; RADAU; DASPK; DOP853
for package in Assimulo==2.9 pyradau13==0.5 scikits.odes==2.7.0 scipy==1.2.3; do
    case $(ls sources) in
    *"${package%%=*}"-*) ;;
    *) python/bin/pip --quiet download --no-deps --no-binary :all: --no-build-isolation --dest sources "$package" ;;
    esac
done
rm -rf classical
mkdir classical
python3 - <<'END'
# only the files that are wanted
import glob, os, shutil, tarfile, zipfile
wanted = {
    "radau_decsol.f": "hairer", "rodas_decsol.f": "hairer",
    "radau.f": "lib", "decsol.f": "lib", "dc_decsol.f": "lib",
    "ddaspk.f": "daepack", "daux.f": "daepack", "dlinpk.f": "daepack",
    "dop853.f": "dop",
}
for archive in glob.glob("sources/*"):
    opened = zipfile.ZipFile(archive) if archive.endswith(".zip") else tarfile.open(archive)
    names = opened.namelist() if archive.endswith(".zip") else opened.getnames()
    for name in names:
        folder, file = os.path.split(name)
        if wanted.get(file) == os.path.basename(folder):
            source = opened.open(name) if archive.endswith(".zip") else opened.extractfile(name)
            with open(os.path.join("classical", file), "wb") as out:
                shutil.copyfileobj(source, out)
END

# one program for each code, in double precision and, for reference values, RADAU and DOP853 in quadruple
ours="problem dense chemistry pollution transistor_amplifier medical_akzo_nobel pleiades pendulum car_axis andrews slider_crank wheelset catalogue ladder"
compile() {
    kind=$1
    shift
    rm -rf "$kind"
    mkdir "$kind"
    for file in $ours; do
        gfortran "$@" -ffree-line-length-none -J "$kind" -c "$here/$file.f90" -o "$kind/$file.o"
    done
}
# NAME of the code, KIND of numbers, files of the code
link() {
    name=$1 kind=$2 options=$3
    shift 3
    files=
    for file in "$@"; do
        # shellcheck disable=SC2086
        gfortran $options -w -std=legacy -c "classical/$file.f" -o "$kind/$file.o"
        files="$files $kind/$file.o"
    done
    objects=
    for file in $ours; do objects="$objects $kind/$file.o"; done
    # shellcheck disable=SC2086
    gfortran $options -ffree-line-length-none -I "$kind" -J "$kind" "$here/$name.f90" $objects $files -o "$kind-$name" -Wl,--no-warn-execstack
}
fast="-O3 -march=native"
# shellcheck disable=SC2086
compile double $fast
link radau5 double "$fast" radau_decsol
link rodas double "$fast" rodas_decsol
link radau double "$fast" radau decsol dc_decsol
link daspk double "$fast" ddaspk daux dlinpk
link dop853 double "$fast" dop853
link check double "$fast"
./double-check
slow="-O2 -freal-8-real-16"
# shellcheck disable=SC2086
compile quadruple $slow
link radau quadruple "$slow" radau decsol dc_decsol
link dop853 quadruple "$slow" dop853
{
    gfortran --version | head -1
    echo "options $fast"
    ls sources
} >versions
echo "programs in $folder"
