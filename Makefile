# The two commands that need nothing set up: `make demo` and `make test`. Both install what is missing (Debian packages,
# as root or through sudo), build the release preset and run. Everything else is CMake: see CMakePresets.json.
BUILD := build/release

.PHONY: demo test check install release configure setup clean
demo: configure
	@cmake --build $(BUILD) --target hologram_command digits
	@sh examples/digits/demo.sh $(BUILD)

test: release
	@/usr/bin/python3 tools/run-tests $(BUILD)

check:
	@/usr/bin/python3 tools/check

install: release
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(abspath $(PREFIX)))

release: configure
	@cmake --build $(BUILD)

configure: setup
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

setup:
	@sh tools/setup

clean:
	rm -rf build out
