# The commands of this repository; each target only runs them.
# `make run` needs Rust and a C compiler. `make test` and `make bench` install other programs that
# they need.

FUZZ_SECONDS ?= 60
SOAK_ROUNDS ?= 200
SOAK_FAULTS ?= 50
SOAK_CASES ?= 500
SET_ROUNDS ?= 60
MACHINE_ROUNDS ?= 100
MACHINE_PAUSE ?= 30
SYNTHETIC_PAGES ?= 100000
LOAD_PEOPLE ?= 10000
PROGRAM = $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/tidings
export CARGO_TERM_COLOR ?= auto
# Many tests wait for pauses, time limits and other processes, so more of them run at once than there
# are cores. Tests that keep a core busy take turns (crates/tidings/tests/it/support/turns.rs).
export RUST_TEST_THREADS ?= 6

.PHONY: run demo test quick lint bench cross-validation figure-3 soak fuzz packages

# Build and start the daemon; its page is on http://127.0.0.1:8080, its data in ./tidings-data.
run:
	cargo build --release --bin tidings
	"$${CARGO_TARGET_DIR:-target}/release/tidings" run

# The program serves a hundred feeds to itself and polls them at 600 times real speed. No network.
demo:
	cargo build --release --bin tidings
	"$${CARGO_TARGET_DIR:-target}/release/tidings" run --demo

# All checks that must pass before a change is accepted. Tests that depend on the database run on
# SQLite and on PostgreSQL.
test: packages
	cargo fmt --all --check
	cargo run -q -p xtask -- tidy
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace
	cargo clippy -p polling -p lab --all-targets --features tuning -- -D warnings
	cargo test -p polling --features tuning --test tuning
	cargo run -q -p xtask -- postgres-tests
	TIDINGS="$(PROGRAM)" cargo test --manifest-path clients/Cargo.toml
	TIDINGS="$(PROGRAM)" \
	  cargo run -q -p xtask -- postgres cargo test --manifest-path clients/Cargo.toml
	cargo run -q -p xtask -- described

# For use while you work, under two minutes with a warm target: format, the rules of `xtask tidy`, and
# the unit tests of every crate. It starts no program, server or browser.
quick:
	cargo fmt --all --check
	cargo run -q -p xtask -- tidy
	cargo test -q --workspace --lib --bins

# Format, lints and the rules of `xtask tidy`, without tests.
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo run -q -p xtask -- tidy

# The cost of a decision, a plan, a simulated poll and a match; recording on SQLite and PostgreSQL;
# page and API with a million entries under load, for ten people and for ten thousand, on both;
# pages with a million feeds compared with a thousand; hostile pages; 793 feeds with the pages of
# new entries, and polls next to such pages; then cold load, unchanged reload and memory compared
# with newsboat and reader on one local nginx.
# `make bench WRITE=--write` also writes docs/notes/benchmarks.md.
bench:
	cargo run --release -p polling --example decision_cost
	cargo run --release -p lab --example polls_per_second
	cargo run --release -p query --example matching
	cargo run --release -p engine --example recording
	cargo run -q -p xtask -- postgres --durable \
	  cargo run --release -p store --example record_groups
	LOAD_PEOPLE=$(LOAD_PEOPLE) cargo run --release -p api --example load
	# Not shown to be within its limit yet (docs/notes/load-test.md), so a failure is only reported.
	-LOAD_PEOPLE=$(LOAD_PEOPLE) cargo run -q -p xtask -- postgres --durable \
	  cargo run --release -p api --example load
	cargo run --release -p api --example many_feeds
	cargo build --release --bin tidings
	cargo run --release -p xtask -- machines scale
	cargo run --release -p article --example hostile
	cargo run --release -p xtask -- articles
	cargo run --release -p xtask -- bench $(WRITE)

# Figure 3 of the advaRSS paper: 793 feeds, three set-ups with real processes (PostgreSQL, NATS,
# controller, four terminals). ROUNDS rounds each; the first set-up takes three minutes a round.
ROUNDS ?= 10
figure-3:
	cargo build --release --bin tidings
	cargo run --release -p xtask -- machines figure-3 --rounds $(ROUNDS)

# Every constant of tide halved and doubled, on halves of the feeds and at two times: a few minutes.
# The cells go to CROSS_VALIDATION/cells.csv, the tables to standard output. Lines go through PRICES
# prices: nine are more precise than five and take twice as long.
TRACES ?= ../shared/traces
CROSS_VALIDATION ?= target/cross-validation
PRICES ?= 5
cross-validation:
	cargo run --release -p lab --features tuning --example cross_validation -- \
	  $(TRACES) $(CROSS_VALIDATION) $(PRICES)

# Kill -9 at random moments, SOAK_ROUNDS times on each database; SOAK_FAULTS kills of the database
# server and cut commits during one cold load; SOAK_CASES histories on both databases; SET_ROUNDS
# random stores whose polls are recorded in sets and one by one; discovery on
# a synthetic web of SYNTHETIC_PAGES pages. MACHINE_ROUNDS rounds in which machines are killed,
# stopped for MACHINE_PAUSE seconds and cut apart, by relays and (with root) in network namespaces;
# the same simulated. Then 300 made-up requests for
# each route of the API. `test` does the same with smaller numbers.
soak:
	SOAK_ROUNDS=$(SOAK_ROUNDS) SOAK_FAULTS=$(SOAK_FAULTS) SYNTHETIC_PAGES=$(SYNTHETIC_PAGES) \
	  MACHINE_ROUNDS=$(MACHINE_ROUNDS) MACHINE_PAUSE=$(MACHINE_PAUSE) \
	  cargo test -p tidings --test it -- --nocapture soak
	SOAK_ROUNDS=$(SOAK_ROUNDS) cargo run -q -p xtask -- postgres \
	  cargo test -p tidings --test it -- --nocapture durability::soak
	PROPTEST_CASES=$(SOAK_CASES) cargo run -q -p xtask -- postgres \
	  cargo test -p store --test it -- differential
	TIDINGS_SET_ROUNDS=$(SET_ROUNDS) cargo run -q -p xtask -- postgres \
	  cargo test -p store --lib -- sets_and_single_records
	TIDINGS_SIMULATED_LIVES=1000 cargo test -p engine --lib -- --nocapture simulation
	cargo run -q -p xtask -- described --examples 300

# Each fuzz target for FUZZ_SECONDS. RUSTC_BOOTSTRAP lets the stable compiler build them.
fuzz:
	command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
	cd fuzz && for target in $$(RUSTC_BOOTSTRAP=1 cargo fuzz list); do \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

# Installs missing programs on Debian: a C compiler for SQLite and ring, a browser to test the page,
# Python environments for the tool that tests the API, and the programs that the tests run: reader
# apps, shells, groff, systemd-analyze. A test without its program says so and ends. With CI set, the
# test fails, and so does this target.
APPS = iproute2 nats-server newsboat liferea rssguard xvfb xauth dbus xdotool bsdutils groff systemd zsh fish
PROGRAMS = ip nats-server newsboat liferea rssguard xvfb-run xauth dbus-run-session xdotool script groff systemd-analyze zsh fish
packages:
	command -v cc >/dev/null || (apt-get update && apt-get install -y --no-install-recommends build-essential)
	command -v chromium >/dev/null || (apt-get update && apt-get install -y --no-install-recommends chromium)
	fc-list :lang=zh | grep -q . || (apt-get update && apt-get install -y --no-install-recommends fonts-wqy-microhei)
	command -v npm >/dev/null || (apt-get update && apt-get install -y --no-install-recommends nodejs npm)
	python3 -c 'import ensurepip' 2>/dev/null \
	  || (apt-get update && apt-get install -y --no-install-recommends python3-venv)
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	  || (apt-get update && apt-get install -y --no-install-recommends postgresql)
	for program in $(PROGRAMS); do \
	  command -v $$program >/dev/null || missing="$$missing $$program"; \
	done; \
	if test -n "$$missing" && \
	  ! (apt-get update && apt-get install -y --no-install-recommends $(APPS)); then \
	  echo "cannot be installed here:$$missing"; \
	  test -z "$$CI" || exit 1; \
	  echo "the tests that need them are skipped"; \
	fi
