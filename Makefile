# The two commands that need nothing set up: `make demo` and `make test`. Both install what is missing (Debian packages,
# as root or through sudo), build the release preset and run. Everything else is CMake: see CMakePresets.json.
BUILD := build/release

.PHONY: demo test check install release setup clean
demo: release
	@sh examples/digits/demo.sh $(BUILD)

test: release
	@/usr/bin/python3 tools/run-tests $(BUILD)

check:
	@/usr/bin/python3 tools/check

install: release
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

release: setup
	@cmake --preset release >build-release.log 2>&1 || { cat build-release.log; rm -f build-release.log; exit 1; }
	@rm -f build-release.log
	@cmake --build $(BUILD)

setup:
	@sh tools/setup

clean:
	rm -rf build
