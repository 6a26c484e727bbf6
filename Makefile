# The two commands that need nothing set up: `make demo` and `make test`. Both install what is missing for them (Debian packages,
# as root or through sudo), build the release preset and run. Everything else is CMake: see CMakePresets.json.
#   make quick      what a change may have broken, in a minute
#   make test-all   the tests with all of their generated breadth
#   make wheel      dist/*.whl: the Python package, and its native code by LLVM as a package of its own
#   make npm        dist/*.tgz: the npm package, with the library as WebAssembly
#   make web        the page of examples/web on localhost, with the npm package in it
#   make count      lines by room, beside the budget of tools/count.txt
# docs/howto/develop.md tells how to work with them.
BUILD := build/release
# A folder that was configured for the tests stays so.
WITHOUT_TESTS := $(if $(wildcard $(BUILD)/tests),,-DHG_TESTS=OFF)

.PHONY: array-api demo quick test test-all check count install npm web wheel release setup clean
demo:
	@sh tools/setup build
	@sh tools/build $(BUILD) $(WITHOUT_TESTS) -- hologram_command digits stream
	@sh examples/digits/demo.sh $(BUILD)

quick: setup
	@/usr/bin/python3 tools/quick $(BUILD)

test: release
	@/usr/bin/python3 tools/run-tests $(BUILD)

test-all: release
	@/usr/bin/python3 tools/run-tests $(BUILD) --all

check:
	@/usr/bin/python3 tools/check

count:
	@/usr/bin/python3 tools/count

# The public suite of the array API standard over the package: make array-api SUITE=a checkout of array-api-tests PYTHON=one with pytest and hypothesis
array-api:
	@$(or $(PYTHON),python3) tests/python/array_api.py $(SUITE)

install:
	@sh tools/setup build
	@sh tools/build $(BUILD) $(WITHOUT_TESTS) -- libhologram.so libhologram.a hologram hologram_ptx
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(abspath $(PREFIX)))

wheel:
	@sh tools/setup wheel
	@/usr/bin/python3 bindings/python/backend.py dist

npm:
	@sh tools/setup npm
	@sh tools/build $(BUILD) $(WITHOUT_TESTS) -- tiles/handlers.c
	@/usr/bin/python3 -B bindings/npm/build.py --native $(BUILD) dist

web: npm
	@sh tools/build $(BUILD) $(WITHOUT_TESTS) -- hologram_command
	@/usr/bin/python3 -B examples/web/build.py --command $(BUILD)/hologram dist/hologram-*.tgz build/web
	@/usr/bin/python3 -B examples/web/serve.py $(if $(PORT),--port $(PORT)) $(if $(ISOLATED),--isolated) build/web

release: setup
	@sh tools/build $(BUILD) -DHG_TESTS=ON

setup:
	@sh tools/setup test

clean:
	rm -rf build dist out
