"""What test scripts count and say: a line for each failure (50 at most) and each skipped part, and the closing line that tools/run-tests adds up."""
import sys

MOST_LINES = 50
passed = failed = skipped = 0


def check(good, what):
    global passed, failed
    if good:
        passed += 1
        return
    failed += 1
    if failed <= MOST_LINES:
        print(f"failed: {what}", file=sys.stderr)


def skip(reason):
    global skipped
    skipped += 1
    print(f"skipped: {reason}", file=sys.stderr)


def finish():
    """Prints the closing line; the exit status of the script."""
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
