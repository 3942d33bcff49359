#!/usr/bin/env bash
# Train a model of this project again:
#
#     scripts/make_model.sh NAME TREEBANKS OUTPUT [OPTION …]
#
# NAME is one of the folders in models/, TREEBANKS has a folder for each treebank, with train.discbracket.gz and, where
# the model is chosen by it, dev.discbracket.gz. The model is left in OUTPUT/model, its card included. Options are passed
# on to `discoparse train`, after those below: --device cpu, --resume, --minutes 10 …
# en-large starts with a transformer: a directory in $ENCODER, or else the one of its name on the Hugging Face hub.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
names=$(ls "$here/../models" | paste -sd ' ')
if [ $# -lt 3 ]; then
    echo "usage: $0 NAME TREEBANKS OUTPUT [OPTION …], where NAME is one of: $names" >&2
    exit 2
fi
name=$1 treebanks=$2 output=$3
shift 3

# What each is trained on (a treebank named twice counts twice), what it is chosen by, and what differs from the recipe.
# The published ones were trained on a shared GPU with --minutes 9 (de, is) or 11.5, which cut only en (after 8,841
# updates); the schedule of the learning rate follows the clock where that is ahead of the updates.
small=(--set hidden=200 --set learning_rate=0.002) # on a CPU, 1.5 times as fast as the recipe's 300 units
recipe=fast
language=${name%%-*}
case $name in
nl | nl-large)
    train=(nl_alpino nl_alpino nl_alpino_extra)
    dev=(nl_alpino)
    settings=(--seed 1 --set updates=12000)
    if [ "$name" = nl ]; then settings+=("${small[@]}"); fi
    ;;
de)
    train=(de_pcc de_squoia)
    dev=(de_pcc)
    settings=(--seed 2 --set updates=10000 "${small[@]}")
    ;;
en)
    train=(en_masc en_craft)
    dev=(en_masc en_craft)
    settings=(--seed 1 --set updates=12000)
    ;;
en-large)
    train=(en_masc en_craft)
    dev=(en_masc en_craft)
    recipe=pretrained
    settings=(--seed 3 --encoder "${ENCODER:-sentence-transformers/all-mpnet-base-v2}" --set encoder_layers=6
        --set encoder_rate=2e-4 --set most_batch_tokens=3000 --set epochs=14 --set evaluate_every=7)
    ;;
is)
    train=(is_icepahc)
    dev=(is_icepahc)
    # With words seen once it was larger than 10 MB when all parameters were stored in half precision.
    settings=(--seed 1 --set updates=10000 --set min_frequency=2 "${small[@]}")
    ;;
*)
    echo "$0: there is no model $name: choose one of $names" >&2
    exit 2
    ;;
esac

files=(--train)
for treebank in "${train[@]}"; do files+=("$treebanks/$treebank/train.discbracket.gz"); done
files+=(--dev)
for treebank in "${dev[@]}"; do files+=("$treebanks/$treebank/dev.discbracket.gz"); done
facts=$here/../models/$name/facts.json
if [ ! -e "$facts" ]; then facts=$here/../models/$language/facts.json; fi
export PYTHONPATH=$here/../src${PYTHONPATH:+:$PYTHONPATH} # a checkout is enough: nothing needs to be installed
exec "${PYTHON:-python3}" -m discoparse train "${files[@]}" --output "$output" --recipe "$recipe" \
    --name "$name" "${settings[@]}" --card "$facts" "$@"
