#!/usr/bin/python3
"""Writes data/sound.wav: two seconds at 16,000 samples a second, 16 bits. Nobody recorded it; this is its formula.

A tone that rises from 200 to 6,000 Hz; from 0.5 s a chord of 440, 550 and 660 Hz with overtones that dies away; from 1.2 s a trill between 3,000 and 3,600 Hz."""
import os
import struct
import wave
from math import exp, pi, sin

RATE, SECONDS = 16000, 2.0


def sample(t):
    rising = 0.2 * sin(2 * pi * (200 * t + 5800 / (2 * SECONDS) * t * t))
    chord = sum(0.08 / k * exp(-3 * (t - 0.5) * k) * sin(2 * pi * f * k * t) for f in (440, 550, 660) for k in (1, 2, 3, 4)) if t >= 0.5 else 0
    trill = 0.15 * sin(2 * pi * 3300 * t + 300 / 12 * sin(2 * pi * 12 * t)) if t >= 1.2 else 0
    return rising + chord + trill


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "sound.wav")
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        count = int(RATE * SECONDS)
        file.writeframes(struct.pack(f"<{count}h", *(round(32767 * sample(i / RATE)) for i in range(count))))


main()
