#!/usr/bin/env bash
# Train a model of this project again:
#
#     scripts/make_model.sh NAME TREEBANKS OUTPUT [OPTION …]
#
# NAME is one of the folders in models/, TREEBANKS has a folder for each treebank, with train.discbracket.gz and, where
# the model is chosen by it, dev.discbracket.gz. The model is left in OUTPUT/model, its card included. Options are passed
# on to `discoparse train`, after those below: --device cpu, --resume, --minutes 10 …
#
# All start from an encoder, which is a directory in $ENCODER. en-large starts with a transformer; without $ENCODER it is
# the one of its name on the Hugging Face hub. The others start with what `discoparse pretrain` makes; without $ENCODER it
# is made first, in OUTPUT-encoder, of the text in $TEXT, a folder that scripts/collect_text.py fills. ($PRETRAIN may have
# further options for it, as "--device cpu --minutes 10".)
#
# All but en-large also learn from trees that teachers make of raw text, TREEBANKS/en_silver and so on. The teacher of en
# is en-large:
#
#     python scripts/sample_text.py $TEXT/en/{europarl,novels,tatoeba,commonvoice}.txt.gz --sentences 80000 > sample.txt
#     python scripts/sample_text.py $TEXT/en/biomedical.txt.gz --sentences 32000 >> sample.txt
#     discoparse parse --model en-large --input sample.txt --pretokenized --output TREEBANKS/en_silver/train.discbracket.gz
#
# From there it is trained on, with a tagger that reads both layers and with trees of the web and of GUM, en_web_silver:
#
#     zcat $TEXT/en/{web,gum}.txt.gz > sample.txt     (and discoparse parse as above)
#
# $FIRST may name the model that this starts from; without it, it is made first, in OUTPUT-first, with the same options.
#
# Those of the others are models like the student that had no teacher (TEACHER=yes), from one encoder with several seeds:
#
#     TEACHER=yes scripts/make_model.sh de TREEBANKS de-1 --seed 1        (and 2, 3 with ENCODER=de-1-encoder)
#     python scripts/sample_text.py $TEXT/de/*.txt.gz --sentences 30000 > sample.txt
#     discoparse parse --model de-1/model --model de-2/model --model de-3/model --input sample.txt --pretokenized \
#         --output TREEBANKS/de_silver/train.discbracket.gz
#
# The published ones had the following:
#
#     de               three models; 9,000 sentences of bundestag, 6,000 of europarl, 5,000 each of novels, tatoeba and
#                      commonvoice
#     nl and nl-large  two rounds: two models of nl-large parsed 34,000 sentences, three students of these 86,000 (41,000 of
#                      europarl, 22,000 each of tatoeba and commonvoice, 1,000 of laws), from encoders that had read 115
#                      million tokens
#     is               two rounds: two models and one from scratch were the teachers of two students; these and the model
#                      from scratch parsed 62,000 sentences (26,000 of micepahc, 24,000 of errorcorpus, 5,000 of
#                      tatoeba, 4,000 of laws, 3,000 of commonvoice)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
names=$(ls "$here/../models" | paste -sd ' ')
if [ $# -lt 3 ]; then
    echo "usage: $0 NAME TREEBANKS OUTPUT [OPTION …], where NAME is one of: $names" >&2
    exit 2
fi
name=$1 treebanks=$2 output=$3
shift 3

# What each is trained on (a treebank named twice counts twice), what it is chosen by, what differs from the recipe, the
# text of its encoder and how often that was read. On a GPU that others shared (twelve trainings in all, but for de and
# en-large), the published ones took 4 (de) to 17 minutes (is), none of which a time limit cut; then en 38 minutes more, on
# one core.
recipe=fast
texts=() silver=() epochs=0 sizes=()
language=${name%%-*}
case $name in
nl | nl-large)
    train=(nl_alpino nl_alpino nl_alpino_extra)
    silver=(nl_silver)
    dev=(nl_alpino)
    texts=(europarl europarl2 laws tatoeba commonvoice)
    epochs=8
    settings=(--seed 1 --set epochs=34 --set updates=8000 --set silver_ratio=2)
    if [ -n "${TEACHER:-}" ]; then settings=(--set updates=10000); fi
    if [ "$name" = nl ]; then # on a CPU, 1.5 times as fast as the recipe's 300 units
        epochs=9
        settings+=(--seed 3 --set learning_rate=0.002)
        sizes=(--set hidden=200)
    fi
    ;;
de)
    train=(de_pcc de_pcc de_squoia)
    silver=(de_silver)
    dev=(de_pcc)
    texts=(bundestag europarl novels plays tatoeba commonvoice)
    epochs=5
    settings=(--seed 1 --set epochs=40 --set updates=8000)
    if [ -n "${TEACHER:-}" ]; then settings=(--set epochs=50 --set updates=7000); fi
    ;;
en-first) # what en is trained on from
    train=(en_masc en_craft)
    silver=(en_silver)
    dev=(en_masc en_craft)
    texts=(europarl novels tatoeba commonvoice biomedical)
    epochs=10
    settings=(--seed 1 --set epochs=40 --set updates=12000 --set silver_ratio=1.5)
    ;;
en)
    train=(en_masc en_masc en_craft)
    silver=(en_web_silver)
    dev=(en_masc en_craft)
    recipe=finetune
    if [ -z "${FIRST:-}" ] && [ -z "${TEACHER:-}" ]; then
        FIRST=$output-first
        bash "${BASH_SOURCE[0]}" en-first "$treebanks" "$FIRST" "$@"
    fi
    settings=(--seed 1 --init "${FIRST:-}" --set epochs=3 --set updates=0 --set learning_rate=1e-3
        --set tag_both=yes --set tagging_weight=2 --set silver_ratio=0.25 --set evaluate_every=1)
    ;;
en-large)
    train=(en_masc en_craft)
    dev=(en_masc en_craft)
    recipe=pretrained
    settings=(--seed 3 --encoder "${ENCODER:-sentence-transformers/all-mpnet-base-v2}" --set encoder_layers=6
        --set layers=0 --set encoder_rate=2e-4 --set most_batch_tokens=3000 --set epochs=14 --set evaluate_every=7)
    ;;
is)
    train=(is_icepahc)
    silver=(is_silver)
    dev=(is_icepahc)
    texts=(laws micepahc errorcorpus tatoeba commonvoice)
    epochs=26
    # With words seen once it would be larger than 10 MB. (From the published one they were removed after training.)
    settings=(--seed 2 --set epochs=45 --set updates=10000 --set most_batch_tokens=5000 --set min_frequency=2)
    if [ -n "${TEACHER:-}" ]; then settings=(--set epochs=40 --set updates=6000); fi
    ;;
*)
    echo "$0: there is no model $name: choose one of $names" >&2
    exit 2
    ;;
esac

if [ -n "${TEACHER:-}" ] && [ "$language" = en ]; then
    echo "$0: the teacher of en is en-large, which has none: unset TEACHER" >&2
    exit 2
fi
files=(--train)
for treebank in "${train[@]}"; do files+=("$treebanks/$treebank/train.discbracket.gz"); done
gold=("${files[@]:1}")
if [ -n "${TEACHER:-}" ]; then silver=(); fi
for treebank in "${silver[@]}"; do files+=(--silver "$treebanks/$treebank/train.discbracket.gz"); done
files+=(--dev)
for treebank in "${dev[@]}"; do files+=("$treebanks/$treebank/dev.discbracket.gz"); done
facts=$here/../models/$name/facts.json
if [ ! -e "$facts" ]; then facts=$here/../models/$language/facts.json; fi
card=(--card "$facts")
if [ -n "${TEACHER:-}" ] || [ "$name" = en-first ]; then card=(--language "$language"); fi # the facts are the student's
export PYTHONPATH=$here/../src${PYTHONPATH:+:$PYTHONPATH} # a checkout is enough: nothing needs to be installed
if [ "${#texts[@]}" -gt 0 ]; then
    if [ -z "${ENCODER:-}" ]; then
        if [ -z "${TEXT:-}" ]; then
            echo "$0: $name starts from an encoder: set ENCODER to one, or TEXT to the folder of the text to make it" >&2
            exit 2
        fi
        ENCODER=$output-encoder
        texts=("${texts[@]/#/$TEXT/$language/}")
        # shellcheck disable=SC2086 # PRETRAIN has several options
        "${PYTHON:-python3}" -m discoparse pretrain --text "${texts[@]/%/.txt.gz}" --pretokenized \
            --language "$language" --vocabulary-from "${gold[@]}" --epochs "$epochs" "${sizes[@]}" \
            --output "$ENCODER" --resume ${PRETRAIN:-}
    fi
    settings+=(--init "$ENCODER")
fi
exec "${PYTHON:-python3}" -m discoparse train "${files[@]}" --output "$output" --recipe "$recipe" \
    --name "$name" "${settings[@]}" "${card[@]}" "$@"
