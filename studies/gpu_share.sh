#!/bin/bash
# Run a command line whose processes use the GPU at the same time where CUDA's multi-process service works, and in turns where it does not.
export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps-pipe CUDA_MPS_LOG_DIRECTORY=/tmp/mps-log
mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
begun() { command -v nvidia-cuda-mps-control && { [ -e "$CUDA_MPS_PIPE_DIRECTORY/control" ] || nvidia-cuda-mps-control -d; }; }
works() { timeout 60 python3 -c "import torch; assert float(torch.ones(8, device='cuda').sum()) == 8"; }
if begun >/dev/null 2>&1 && works; then
    echo "processes share the GPU"
else
    echo quit | nvidia-cuda-mps-control >/dev/null 2>&1
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    echo "processes take turns on the GPU"
fi
bash -c "$1"
