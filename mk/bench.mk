# make bench: speed, as ratios within one run.
.PHONY: bench
bench: all
	@for b in tests/bench/*.sh; do NS_BUILD=build sh $$b || failed=1; done; exit $${failed:-0}
