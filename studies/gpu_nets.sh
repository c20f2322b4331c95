#!/bin/bash
# Everything about nets that wants a GPU, in six minutes: bash studies/gpu_nets.sh, from the root, with carry/*.xz of zoo_data.py. Tables and log come under $OUT.
export PYTHONPATH=src PYTHONUNBUFFERED=1 OUT="${OUT:-.}"
log() { tee -a "$OUT/gpu_nets.txt"; }
{
    echo "== the numbers of a GPU are those of a CPU"
    timeout 90 python3 studies/gpu_same_numbers.py
    echo "== all measures of one VGG, hardly trained"
    timeout 60 python3 studies/gpu_measures.py --seconds 50
    echo "== all measures of one VGG, trained"
    timeout 60 python3 studies/gpu_measures.py --seconds 50 --trained
    echo "== where the time of some measures goes"
    timeout 60 python3 studies/gpu_measures.py --trained --profile kv-margin,pac-bayes-flatness,multi-augment,par-search,spectral-sum
    echo "== 40 checkpoints"
    timeout 60 python3 -m benchmarks.bench_nets_rank cuda
    echo "== copies of calibrated-bolster"
    bash studies/gpu_share.sh "timeout ${COPIES_SECONDS:-170}s python3 studies/gpu_copies.py --seconds $((${COPIES_SECONDS:-170} - 10)) --workers 12"
} 2>&1 | log
