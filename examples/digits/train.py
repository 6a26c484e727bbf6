#!/usr/bin/python3
"""Trains the 64-64-10 network of this example with NumPy alone and writes its weights.

    /usr/bin/python3 train.py           reads data/, trains on the rows i mod 4 != 3, writes weights/*.npy
    /usr/bin/python3 train.py --check   trains nothing: prints how well the weights that are there do on the other rows

The rows i mod 4 = 3 (449 of 1,797) are never seen in training, neither for fitting nor for choosing when to stop.
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SEED, EPOCHS, BATCH, RATE, DECAY, NOISE = 7, 150, 32, 2e-3, 2e-4, 0.08


def load():
    images = np.load(os.path.join(HERE, "data", "images.npy")).astype(np.float32) / np.float32(16)
    labels = np.load(os.path.join(HERE, "data", "labels.npy"))
    held_out = np.arange(len(labels)) % 4 == 3
    return images, labels, held_out


def forward(images, weights):
    hidden = np.maximum(images @ weights["w1"] + weights["b1"], 0)
    return hidden, hidden @ weights["w2"] + weights["b2"]


def train(images, labels):
    """Adam on the cross entropy, with a little noise on the pixels and weight decay."""
    random = np.random.default_rng(SEED)
    weights = {"w1": random.normal(0, np.sqrt(2 / 64), (64, 64)), "b1": np.zeros(64),
               "w2": random.normal(0, np.sqrt(2 / 64), (64, 10)), "b2": np.zeros(10)}
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    wanted = np.eye(10)[labels]
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            rows = order[start:start + BATCH]
            x = images[rows] + random.normal(0, NOISE, (len(rows), 64))
            hidden, logits = forward(x, weights)
            exponent = np.exp(logits - logits.max(axis=1, keepdims=True))
            delta = (exponent / exponent.sum(axis=1, keepdims=True) - wanted[rows]) / len(rows)
            back = (delta @ weights["w2"].T) * (hidden > 0)
            slope = {"w1": x.T @ back, "b1": back.sum(axis=0), "w2": hidden.T @ delta, "b2": delta.sum(axis=0)}
            step += 1
            for name in weights:
                first[name] = 0.9 * first[name] + 0.1 * slope[name]
                second[name] = 0.999 * second[name] + 0.001 * slope[name] ** 2
                move = first[name] / (1 - 0.9 ** step) / (np.sqrt(second[name] / (1 - 0.999 ** step)) + 1e-8)
                weights[name] -= rate * (move + (DECAY / RATE * weights[name] if name.startswith("w") else 0))
    return {name: value.astype(np.float32) for name, value in weights.items()}


def main():
    images, labels, held_out = load()
    if "--check" in sys.argv:
        weights = {name: np.load(os.path.join(HERE, "weights", name + ".npy")) for name in ("w1", "b1", "w2", "b2")}
    else:
        weights = train(images[~held_out].astype(np.float64), labels[~held_out])
        os.makedirs(os.path.join(HERE, "weights"), exist_ok=True)
        for name, value in weights.items():
            np.save(os.path.join(HERE, "weights", name + ".npy"), value)
    _, logits = forward(images, weights)
    right = logits.argmax(axis=1) == labels
    ordered = np.sort(logits, axis=1)
    print(f"training rows: {right[~held_out].sum()} of {(~held_out).sum()} right")
    print(f"held out:      {right[held_out].sum()} of {held_out.sum()} right ({100 * right[held_out].mean():.2f} %)")
    print(f"smallest gap between the two largest outputs of any image: {(ordered[:, -1] - ordered[:, -2]).min():.2g}")


main()
