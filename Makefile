# Checks and pictures. `make check` is what CI runs.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOPACKAGES  = golang.org/x/tools/go/packages/gopackages@v0.44.0
GOCOGNIT    = github.com/uudashr/gocognit/cmd/gocognit@v1.3.0
FUZZTIME    = 10s

# The NATS server of fleets is part of what is checked and released. A plain go build does without it, and takes
# four fifths of the time from nothing.
export GOFLAGS := $(GOFLAGS) -tags=fleet

.PHONY: release check test fmt vet staticcheck race cross fuzz bench microbench soak kills screens golden lines \
	complexity

# Tests wait now and then; other checks take the processor meanwhile, and are nice, since tests have a clock.
check: fmt lines complexity vet
	$(MAKE) -j2 race staticcheck cross

test:
	go test ./...

fmt:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "gofmt these files:"; echo "$$bad"; exit 1; fi

# With the race detector, packages are those that make race builds; it does not change what is checked.
vet:
	go vet -race ./...

staticcheck:
	nice go run -exec "env 'GOFLAGS=$$GOFLAGS -race'" $(STATICCHECK) ./...

# Other systems must at least compile, tests included. The tool checks types from source, where go vet would compile every package
# for each system. It prints errors among what it finds and does not fail for them.
cross:
	@for system in darwin/arm64 windows/amd64; do \
	  found=$$(nice go run -exec "env GOOS=$${system%/*} GOARCH=$${system#*/}" $(GOPACKAGES) \
	    -mode=allsyntax -test ./...) || exit 1; \
	  if echo "$$found" | grep -E '^	(-|[^ ]+:[0-9]+): '; then echo "these do not compile for $$system"; exit 1; fi; \
	done

# Every test once: with the race detector, or without it where the test says so by SkipUnderRace. The vet of go test is a part of
# make vet.
race:
	go test -race -vet=off ./...
	go test -vet=off -run "^($$(grep -rh --include='*_test.go' -B 1 '^	ci.SkipUnderRace(t)' . | \
	  sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/\1/p' | paste -sd '|' -))$$" \
	  $$(grep -rl --include='*_test.go' '^	ci.SkipUnderRace(t)' . | xargs -n 1 dirname | sort -u)

# A crasher stays in testdata/fuzz and fails the tests from then on. Shrinking an interesting input is limited to a few
# tries, or it would take all the time there is. When the time is over while a worker is busy, the go command now and then
# says that a deadline was exceeded and fails, though no input did: that is no failure.
fuzz:
	@for f in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do \
	  for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$f); do \
	    echo "$$(dirname $$f) $$t"; \
	    if ! go test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$(dirname $$f) >fuzz.log 2>&1; then \
	      cat fuzz.log; \
	      grep -q 'context deadline exceeded' fuzz.log && ! grep -q 'Failing input' fuzz.log || { rm -f fuzz.log; exit 1; }; \
	    fi; \
	    grep 'execs:' fuzz.log | tail -1; rm -f fuzz.log; \
	  done; \
	done

# Measures the measuring, about half an hour, and rewrites the tables of docs/accuracy.md and docs/accuracy.json. Let
# nothing else run meanwhile. BENCH="-quick" tries it in two minutes and writes nothing; BENCH="-only stamps" measures
# one table, BENCH="-only dashboard" all those of the dashboard.
bench:
	go run ./internal/calibration/bench $(BENCH)

microbench:
	go test -run '^$$' -bench . -benchmem ./...

# A run of 500 streams for half an hour: goroutines, descriptors and live heap must be flat. SOAK=3m is quick, and mostly
# too short to tell.
SOAK = 30m
soak:
	go test -count 1 -timeout 0 ./internal/cli -run '^TestSoak$$' -v -args -soak $(SOAK)

# serve, throughput and latency are killed a hundred times each, at random moments.
kills:
	go test -count 1 -timeout 0 ./internal/cli -run '^TestKilledAtAnyMoment$$' -v -args -kills 100

# Rewrites the expected screens, reports and views of runs in testdata; read the difference before you commit it. Journals of runs
# stay as they are.
golden:
	go test ./tui ./tui/panels ./tui/form ./export ./export/charts ./internal/preview ./internal/startup -update
	go test ./internal/cli -run '^TestRuns' -update

# Lines that are neither blank nor comment, by folder. It fails if a function is too long or a line too wide.
lines:
	go run ./internal/lines

# Functions outside tests have a cognitive complexity of 20 at most.
complexity:
	go run $(GOCOGNIT) -over 20 -test=false -ignore 'test/|testdata/' .

screens:
	docs/screens/render.sh

# Binaries, archives, wheels, Debian packages, the list of modules and checksums, in dist. The tag of the commit is the
# version. RELEASE="-only linux/amd64" builds for one platform.
release:
	go run ./internal/release $(RELEASE)
