"""k-means of the 1,797 handwritten digits: arrays alone, recorded and fused by hg.jit. kmeans.py FOLDER (examples/digits/data)"""
import os
import sys

import hologram as hg

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "digits", "data")
images = hg.load(os.path.join(FOLDER, "images.npy")).astype("float32") / 16
labels = hg.load(os.path.join(FOLDER, "labels.npy"))
images, K = images.reshape((images.shape[0], -1)), 10


@hg.jit
def assign(centres):
    """The nearest centre of each image."""
    distance = (centres * centres).sum(axis=1) - 2 * images @ centres.T
    return hg.argmin(distance, axis=1)


@hg.jit
def means(nearest):
    member = (nearest[None, :] == hg.arange(K)[:, None]).astype("float32")
    return member @ images / hg.maximum(member.sum(axis=1), 1)[:, None]


centres = images[::images.shape[0] // K][:K]
for rounds in range(1, 101):
    nearest = assign(centres)
    moved = means(nearest)
    change = float(hg.max(hg.abs(moved - centres)))
    centres = moved
    if change == 0:
        break
right = 0
for k in range(K):
    mine = labels[nearest == k]
    if mine.size:
        counts = hg.unique_counts(mine)
        right += int(hg.max(counts.counts))
print(f"after {rounds} rounds nothing moves; {right} of {images.shape[0]} images are in a cluster of mostly their digit")
