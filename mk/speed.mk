# What a run measures while nothing watches: ceilings, sweep, and the baseline
# between two canaries.  A backend that measures itself sets `device` and includes
# this; the gate has passed by then.

baseline_args := $(checkpoint_args) $(workload_args) profile_warmup profile_repeats
speed := $(addprefix $R/,ceilings.kv sweep.tsv baseline.tsv footprint.tsv routing.tsv canary-before.kv canary-after.kv)

ifneq ($(capturing),)
worker = build/ns-worker -d $(device) -m $(checkpoint) -p $(workload_prompt_tokens) \
	-B $(workload_batch) -s $(workload_seed)

$R/ceilings.kv: build/ns-calib.sum | $R/gate.tsv
	$(call stage,ceilings) build/ns-calib -d $(device) ceilings --seconds $(profile_ceilings_seconds) $(into)
$R/sweep.tsv: build/ns-calib.sum | $R/gate.tsv
	$(call stage,sweep) build/ns-calib -d $(device) sweep --seconds $(profile_sweep_seconds) $(into)

$R/baseline.tsv: build/ns-worker.sum $(call recall,$R/baseline.tsv,$(baseline_args)) \
		| $(checkpoint_there) $R/gate.tsv
	build/ns-calib -d $(device) canary --seconds $(profile_canary_seconds) >$R/canary-before.kv.tmp
	$(call stage,baseline) $(worker) -g $(workload_generate_tokens) -w $(profile_warmup) \
		-r $(profile_repeats) --footprint $R/footprint.tsv.tmp --routing $R/routing.tsv.tmp >$@.tmp
	build/ns-calib -d $(device) canary --seconds $(profile_canary_seconds) >$R/canary-after.kv.tmp
	for f in canary-before.kv canary-after.kv footprint.tsv routing.tsv; do mv $R/$$f.tmp $R/$$f; done
	mv $@.tmp $@
	$(call record,$(baseline_args))

# Made beside another capture: there, or that capture has to be made again.
beside = $R/gate.expected.tsv:$(gated) $(foreach f,footprint.tsv routing.tsv \
	canary-before.kv canary-after.kv,$R/$f:$R/baseline.tsv)
$(foreach b,$(beside),$(eval $(firstword $(subst :, ,$b)): | $(lastword $(subst :, ,$b)); \
	[ -e $$@ ] || { echo "$$@ is gone: rm $$| and run again" >&2; exit 2; }))
endif
