# ns-worker as the program of a run: what it depends on, and its baseline, the only
# source of speed.  Before the include: device and gated, as for speed.mk; worker_step,
# how it is to cut a decode step, if the device has a choice.

watched_args  := $(checkpoint_args) $(workload_args) $(if $(worker_step),worker_step)
watched_sum   := build/ns-worker.sum
watched_after := $(checkpoint_there) $R/gate.tsv

worker = build/ns-worker -d $(device) -m $(checkpoint) -p $(workload_prompt_tokens) \
	-B $(workload_batch) -s $(workload_seed) $(worker_step:%=--step %)

unwatched        := $R/baseline.tsv
unwatched_args   := $(watched_args) profile_warmup profile_repeats
unwatched_beside := footprint.tsv routing.tsv $(if $(capturing)$(wildcard $R/worker.kv),worker.kv)
unwatched_run     = $(worker) -g $(workload_generate_tokens) -w $(profile_warmup) -r $(profile_repeats) \
	--footprint $R/footprint.tsv.tmp --routing $R/routing.tsv.tmp --settings $R/worker.kv.tmp >$@.tmp
include mk/speed.mk

# A checkpoint that is none is told before the gate.
ifneq ($(capturing),)
$(gated): | $R/model.kv
endif
