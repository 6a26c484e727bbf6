"""The Mandelbrot set as a picture: a loop with a condition for each pixel. mandelbrot.py PICTURE.png"""
import sys

import hologram as hg
import numpy as np


@hg.kernel
def mandelbrot(picture: hg.Out[hg.u8, "h", "w", 3], rounds: hg.i32):
    j, i = hg.grid(2)
    h, w, _ = picture.shape
    cr = hg.f64(i) / w * 3.0 - 2.1
    ci = hg.f64(j) / h * 2.4 - 1.2
    re, im, k = 0.0, 0.0, 0
    while k < rounds and re * re + im * im < 4.0:
        re, im = re * re - im * im + cr, 2.0 * re * im + ci
        k += 1
    bright = hg.f32(k) / hg.f32(rounds) if k < rounds else hg.f32(0.0)
    picture[j, i, 0] = hg.u8(255.0 * hg.sqrt(bright))
    picture[j, i, 1] = hg.u8(255.0 * bright)
    picture[j, i, 2] = hg.u8(255.0 * hg.sqrt(hg.sqrt(bright)))


picture = np.zeros((240, 300, 3), np.uint8)
mandelbrot[240, 300](picture, 200)
hg.write_png(sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png", picture)
print(f"{(picture[:, :, 2] == 0).sum()} of {240 * 300} points are in the set after 200 rounds")
