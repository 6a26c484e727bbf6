"""The Python package of the build folder, for test scripts: hg is `import hologram as hg`. What is not there ends the script as skipped. Needs HG_BUILD_DIR,
or stands in the sources of the project."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SOURCE, "tests", "support"), os.path.join(BUILD, "python")]
import checks  # noqa: E402
from checks import check  # noqa: E402, F401


def skip(reason):
    checks.skip(reason)
    sys.exit(checks.finish())


def numpy():
    """NumPy, which most scripts compare with."""
    try:
        import numpy as np
    except ImportError:
        skip("NumPy is not installed (Debian package python3-numpy)")
    return np


if not os.path.exists(os.path.join(BUILD, "python", "hologram", "_native.abi3.so")):
    skip("the extension was not built: no headers of CPython 3.11 or newer (Debian package python3-dev)")
import hologram as hg  # noqa: E402, F401
