# make bench: speed, as ratios within one run.
.PHONY: bench
bench: all
	@for b in tests/bench/*.sh; do NS_BUILD=build sh $$b || failed=1; done; exit $${failed:-0}

# What tests/gpu/step.sh runs: the worker's objects around a model that is nowhere.
# Like the kit's tools it asks of a machine nothing but the driver.
build/gpu-step: tests/gpu/step.c $(call parts,ns-worker) $(cuda_archive) build/libns.a
	$(call quiet,LINK,$@)$(compile) -Itools/cuda -isystem $(cuda_home)/include -o $@ $^ $(cuda_libs) $(kit_libraries)
