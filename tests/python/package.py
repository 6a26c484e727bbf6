"""The Python package of the build folder, for test scripts: hg is `import hologram as hg`. Needs HG_BUILD_DIR, or stands in the sources of the project."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.dont_write_bytecode = True
os.environ.setdefault("HOLOGRAM_CACHE_DIR", "off")  # kernels are compiled, not found from the run before
sys.path[:0] = [os.path.join(SOURCE, "tests", "support"), os.path.join(BUILD, "python")]
import checks  # noqa: E402

try:
    import hologram as hg
except ImportError as error:
    checks.skip(f"the Python package is not built: {error}")
    sys.exit(checks.finish())
