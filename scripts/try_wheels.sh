#!/usr/bin/env bash
# Build the source distributions of discoparse and of its models, wheels from these, and use the wheels as a new user
# would: the parser alone, with one model, with all of them, and the parser of a machine without a compiler.
#
#     scripts/try_wheels.sh [PYTHON]
#
# PYTHON [.venv/bin/python] is of an environment with the dependencies and setuptools. The new environment has the same
# dependencies, but no discoparse and no models; nothing is downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$(realpath -s "${1:-.venv/bin/python}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
offline=(--quiet --no-index --no-deps --disable-pip-version-check)

fail() {
    echo "$0: $*" >&2
    exit 1
}

echo "building"
mkdir "$work/source"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work/source" # no leftovers of builds
for package in . models/*; do
    (cd "$work/source/$package" && "$python" -c "from setuptools.build_meta import build_sdist; build_sdist('$work')") \
        >"$work/log" 2>&1 || fail "no source distribution of $package: $(tail -n 5 "$work/log")"
done
"$python" -m pip wheel "${offline[@]}" --no-build-isolation --wheel-dir "$work/wheels" "$work"/*.tar.gz
core=$(ls "$work"/wheels/discoparse-[0-9]*.whl)
for file in "$work"/discoparse-[0-9]*.tar.gz "$core"; do
    size=$(stat --format %s "$file")
    [ "$size" -lt 2000000 ] || fail "$(basename "$file") has $size bytes: the parser without models is smaller than that"
    echo "  $(basename "$file"): $size bytes"
done
if "$python" -m zipfile -l "$core" | grep -E 'safetensors|vocabulary.json'; then fail "the parser comes with a model"; fi

echo "installing"
"$python" -m venv --without-pip "$work/new"
site=$("$work/new/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
from=$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
find "$from" -mindepth 1 -maxdepth 1 ! -iname '*discoparse*' -exec ln -s -t "$site" {} +
new=("$work/new/bin/python" -m pip install "${offline[@]}")
discoparse=$work/new/bin/discoparse
cd "$work"

echo "the parser alone"
"${new[@]}" "$core"
"$work/new/bin/python" -m pip check --disable-pip-version-check >/dev/null || fail "dependencies are missing"
"$discoparse" models 2>&1 | grep -q 'no models are installed' || fail "models came with the parser"
status=0
"$discoparse" parse --model nl "Dat boek heb ik gelezen." 2>error || status=$?
[ $status = 2 ] || fail "a model that is not installed gives status $status: $(cat error)"
grep -q 'pip install discoparse-model-nl ' error || fail "it is not said how to install a model: $(cat error)"

echo "with one model"
"${new[@]}" wheels/discoparse_model_nl-[0-9]*.whl
"$discoparse" parse --to discbracket "Dat boek heb ik gelezen." 2>error | grep -q '0=Dat' || fail "no tree: $(cat error)"

if command -v "${CXX:-c++}" >/dev/null; then
    "$discoparse" --version | grep -q 'compiled network: [a-z0-9]*$' || fail "not compiled: $("$discoparse" --version)"
fi

echo "without a compiler"
env -u CXX PATH="$work/nothing" "$python" -m pip wheel "${offline[@]}" --no-build-isolation --wheel-dir "$work/plain" \
    "$work"/discoparse-[0-9]*.tar.gz
ls "$work"/plain | grep -q 'py3-none-any.whl$' || fail "a wheel without libraries is for one system: $(ls "$work"/plain)"
"${new[@]}" --force-reinstall "$work"/plain/*.whl
"$discoparse" --version | grep -q 'compiled network: not built' || fail "compiled without a compiler"
"$discoparse" parse --to discbracket "Dat boek heb ik gelezen." 2>error | grep -q '0=Dat' || fail "no tree: $(cat error)"
"${new[@]}" --force-reinstall "$core"

echo "with all models"
"${new[@]}" wheels/discoparse_model_*.whl
for name in $(ls source/models); do
    "$discoparse" parse --model "$name" --to discbracket --pretokenized "a b ." | grep -q '2=\.' || fail "no tree with $name"
    echo "  $name"
done
