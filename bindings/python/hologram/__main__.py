"""`python -m hologram`: the command; `python -m hologram demo`: what the package does, in some seconds."""
import os
import sys


def command():
    """The path of the command `hologram`, or None: of the package, else of the build folder that the package lies in."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in (os.path.join(here, "lib", "hologram"), os.path.join(here, os.pardir, os.pardir, "hologram")):
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.abspath(place)
    return None


def main():
    if sys.argv[1:2] == ["demo"]:
        from hologram import _demo
        return _demo.main(sys.argv[2:])
    path = command()
    if path is None:
        print("hologram: the package is without its command", file=sys.stderr)
        return 1
    os.execv(path, ["hologram", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
