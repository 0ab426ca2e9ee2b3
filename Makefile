# Talus. The two commands: `make run` and `make test`. Everything else is in `make help`.
SHELL := /bin/bash
JOBS  ?= $(shell nproc)
TALUS := build/release/talus

.DEFAULT_GOAL := help
.PHONY: help setup build run test bench tables test-asan test-tsan fuzz format clean

help:            ## this list
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

setup:           ## install missing Debian packages (needs root only when something is missing)
	@tools/setup.sh

build: setup     ## build the Release binary at build/release/talus
	@cmake --preset release $(if $(CI),-DTALUS_WERROR=ON) > build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log
	@cmake --build --preset release -j $(JOBS)

run: build       ## build, run the main example, and say where to look
	@$(TALUS) run scenes/sedimentation.toml --out out/sedimentation
	@echo
	@echo "Look at it:  paraview out/sedimentation/frames/bodies.pvd"
	@echo "Numbers:     out/sedimentation/summary.json, steps.csv, forces.csv"

test: build      ## build and run all tests
	@ctest --preset release -j $(JOBS)

bench: build     ## run the benchmarks; results go to bench/results/
	@$(TALUS) bench all --json bench/results/latest.json

tables: build    ## every solver on every problem file, E3-E5 and E7: docs/solvers.md, docs/reproduction.md (about an hour)
	@tools/solver_tables.py
	@tools/reproduce.py

test-asan: setup ## all tests under the address and undefined-behaviour sanitizers
	@cmake --preset asan > /dev/null && cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

test-tsan:       ## all tests under the thread sanitizer
	@tools/setup.sh clang
	@cmake --preset tsan > /dev/null && cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan -j $(JOBS)

FUZZ_SECONDS ?= 300
fuzz:            ## libFuzzer on scenes, body files and checkpoints, FUZZ_SECONDS (300) each; needs clang
	@tools/setup.sh clang
	@cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DTALUS_FUZZ=ON -DTALUS_TESTS=OFF \
	  -DTALUS_SANITIZE=fuzzer-no-link,address,undefined > /dev/null
	@cmake --build build/fuzz -j $(JOBS) --target scene_fuzz body_file_fuzz checkpoint_fuzz
	@for t in scene body_file checkpoint; do \
	  mkdir -p build/fuzz/corpus/$$t build/fuzz/findings; echo "fuzzing $$t for $(FUZZ_SECONDS) s"; \
	  build/fuzz/tests/fuzz/$${t}_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
	    -dict=tests/fuzz/$$t.dict -artifact_prefix=build/fuzz/findings/$$t- build/fuzz/corpus/$$t tests/fuzz/corpus/$$t \
	    > build/fuzz/$$t.log 2>&1 || { tail -40 build/fuzz/$$t.log; echo "fuzzing $$t found something: build/fuzz/findings"; exit 1; }; \
	  grep -E "stat::number_of_executed_units|stat::new_units_added" build/fuzz/$$t.log; \
	done

format: ## clang-format every source
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

clean: ## remove build products
	@rm -rf build out
