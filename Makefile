# Checks and pictures. `make check` is what CI runs after the tests.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    = 10s

.PHONY: check test fmt vet staticcheck race cross fuzz bench microbench screens golden lines

check: fmt vet lines staticcheck race cross

test:
	go test ./...

fmt:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "gofmt these files:"; echo "$$bad"; exit 1; fi

vet:
	go vet ./...

staticcheck:
	go run $(STATICCHECK) ./...

# Tests that count conclusions over many runs take minutes with the race detector, and have no code of their own that runs concurrently.
COUNTING = ^(TestBorders|TestRanges|TestClaims|TestLooks|TestFindClaims|TestFinderAgainstNoise|TestFindUsers)$$
race:
	go test -race -skip '$(COUNTING)' ./...

# Other systems must at least compile, tests included.
cross:
	GOOS=darwin GOARCH=arm64 go vet ./...
	GOOS=windows GOARCH=amd64 go vet ./...
	GOOS=darwin GOARCH=arm64 go build -o /dev/null .
	GOOS=windows GOARCH=amd64 go build -o /dev/null .

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

# Measures the measuring, about fifteen minutes, and rewrites the tables of docs/accuracy.md and docs/accuracy.json. Let nothing
# else run meanwhile. BENCH="-quick" tries it in two minutes and writes nothing; BENCH="-only stamps" measures one table,
# BENCH="-only dashboard" all those of the dashboard.
bench:
	go run ./internal/calibration/bench $(BENCH)

microbench:
	go test -run '^$$' -bench . -benchmem ./...

# Rewrites the expected screens, reports and views of runs in testdata; read the difference before you commit it. Journals of runs
# stay as they are.
golden:
	go test ./tui ./tui/panels ./tui/form ./export ./export/charts ./internal/preview ./internal/startup -update
	go test ./internal/cli -run '^TestRuns' -update

# Lines that are neither blank nor comment, by folder. It fails if a folder, a file or a function is over its limit.
lines:
	go run ./internal/lines

screens:
	docs/screens/render.sh
