"""How long the networks of cifar-vgg take on a GPU, and which step length lets all cells finish: a short look before the zoo is trained.

    PYTHONPATH=src python3 studies/gpu_zoo_probe.py 60

Trains the corners of the grid with several step lengths side by side and prints epochs, losses and seconds; begins nothing new after the number of seconds given.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import zoo_data as images

from unseen.nets import fit_many
from unseen.nets.zoo.data import zoo_data
from unseen.nets.zoo.grids import zoo_grid

RATES = (0.01, 0.02, 0.05)
CORNERS = (
    # blocks, width, dense, batch size, most epochs, TF32
    (3, 32, 2, 512, 150, True),
    (3, 32, 2, 64, 40, True),
    (1, 64, 1, 512, 3, True),
    (1, 64, 1, 64, 2, True),
    (1, 64, 1, 512, 2, False),
    (3, 64, 1, 64, 2, True),
    (1, 32, 2, 512, 60, True),
)


def main() -> None:
    begun, limit = time.time(), float(sys.argv[1])
    few = int(sys.argv[2]) if len(sys.argv) > 2 else None
    grid = zoo_grid("cifar-vgg")
    data = zoo_data({k: v[:few] for k, v in images.read(Path("carry/cifar.xz")).items()})
    print(f"{time.time() - begun:6.1f} s  data read", flush=True)
    for blocks, width, dense, batch, epochs, tf32 in CORNERS:
        if time.time() - begun > limit:
            break
        cell = {"blocks": blocks, "width": width, "dense": dense, "dropout": 0.5}
        options = [(lr, drop, decay) for lr in RATES for drop in (0.0, 0.5) for decay in (0.0, 1e-3)]
        start = time.time()
        fits = fit_many(
            grid.maker(cell),
            data.X_train,
            data.y_train,
            seeds=range(len(options)),
            lr=[o[0] for o in options],
            dropout=[o[1] for o in options],
            weight_decay=[o[2] for o in options],
            momentum=0.9,
            batch_size=batch,
            epochs=epochs,
            stop="train-loss",
            stop_at=0.02,
            tf32=tf32,
        )
        seconds = time.time() - start
        passed = sum(fits.epochs)
        print(
            f"{time.time() - begun:6.1f} s  blocks {blocks} width {width} dense {dense} batch {batch} tf32 {tf32}: {seconds:.1f} s, "
            f"{1e6 * seconds / (passed * len(data.y_train)):.2f} microseconds per network and image, {fits.how}",
            flush=True,
        )
        right = (fits.logits(data.X_test).argmax(2) == data.y_test.to(fits.device)).double().mean(1)
        for k, (lr, drop, decay) in enumerate(options):
            loss, accuracy = (fits.history[k][name][-1] for name in ("evaluated_loss", "evaluated_accuracy"))
            print(
                f"    lr {lr} dropout {drop} decay {decay}: {fits.epochs[k]} epochs, loss {loss:.4f}, accuracy {accuracy:.3f}, test {float(right[k]):.3f}"
            )


if __name__ == "__main__":
    main()
