"""Hologram: programs that run on any device with the same results."""
