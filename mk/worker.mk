# ns-worker as the program of a run: what it depends on, and its baseline, the only
# source of speed.  Before the include: device and gated, as for speed.mk.

watched_args  := $(checkpoint_args) $(workload_args)
watched_sum   := build/ns-worker.sum
watched_after := $(checkpoint_there) $R/gate.tsv

worker = build/ns-worker -d $(device) -m $(checkpoint) -p $(workload_prompt_tokens) \
	-B $(workload_batch) -s $(workload_seed)

unwatched        := $R/baseline.tsv
unwatched_args   := $(watched_args) profile_warmup profile_repeats
unwatched_beside := footprint.tsv routing.tsv
unwatched_run     = $(worker) -g $(workload_generate_tokens) -w $(profile_warmup) -r $(profile_repeats) \
	--footprint $R/footprint.tsv.tmp --routing $R/routing.tsv.tmp >$@.tmp
include mk/speed.mk

# A checkpoint that is none is told before the gate.
ifneq ($(capturing),)
$(gated): | $R/model.kv
endif
