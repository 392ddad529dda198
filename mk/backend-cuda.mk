# The cuda backend: ns-worker on an NVIDIA GPU, watched by Nsight Systems and
# Nsight Compute.  Which chip that is, and so which counters, ns-probe says.
#
#	TIERS=0,1,2	0: timeline and sampled counters (nsys); 1: totals of each
#		phase (the worker or ncu), bytes of each launch (ncu); 2: detail of the
#		kernels that take most time (ncu); 3: their instructions (ncu); a report
#		takes those that were captured
#	TIER1=inside	all counters of the registry, by the worker itself (CUPTI), which
#		repeats its run once a pass; range: by ncu, which runs the program once a
#		pass, and what is done where there is no libcupti for it; inside-memory,
#		memory: those of memory alone, one pass; kernel: all of them kernel by
#		kernel, the slow witness, for small models
#	STEP=auto	how the worker cuts a decode step, in all of its runs: kernels, experts
#		or persistent (ns-worker(1)); auto: as is fastest

include mk/gpu.mk

TIERS    := 0,1,2
TIER1    := $(if $(capturing),$(if $(filter NA,$(chip_cupti)),range,inside),$(if $(wildcard $R/inside.tsv),inside,range))
STEP     := auto

there = $(if $(wildcard $R/$1),$2)
tiers := $(or $(if $(capturing)$(filter-out file,$(origin TIERS)),,$(strip $(call there,timeline.sqlite,0) \
	$(call there,launches.csv,1) $(call there,chosen.tsv,2) \
	$(call there,source-$(if $(filter-out 0,$(workload_generate_tokens)),decode,prefill).csv,3))),$(subst $(comma), ,$(TIERS)))
tier   = $(filter $1,$(tiers))
$(if $(filter-out 0 1 2 3,$(tiers)),$(error TIERS=$(TIERS): a list of 0, 1, 2 and 3 was expected))
tier1 := $(TIER1)
$(if $(filter $(tier1),inside range inside-memory memory kernel),,$(error TIER1=$(TIER1): inside, range, inside-memory, \
	memory or kernel was expected))
worker_step := $(STEP)
$(if $(filter $(worker_step),auto kernels experts persistent),,$(error STEP=$(STEP): auto, kernels, experts or persistent was expected))

include mk/worker.mk

# ---- what is counted, and of which ranges

memory_metrics := $(call metrics_where,$$6 <= 1 && ($$2 == "memory" && $$7 != "witness" || $$1 == "time"))
all_metrics    := $(call metrics_where,$$6 <= 1)
range_metrics  := $(if $(filter %memory,$(tier1)),$(memory_metrics),$(all_metrics))

# The last decode step stands for all: the cache is at its longest.
last_step := $(if $(filter-out 0,$(workload_generate_tokens)),$(shell echo $$(($(workload_generate_tokens) - 1))))
ranges    := prefill $(last_step:%=decode.%)
counted       := $(if $(filter inside%,$(tier1)),inside.tsv,phases.csv)
counted_steps := $(if $(last_step),1,0)
range_args    := $(watched_args) tier1 range_metrics counted_steps
launch_args   := $(watched_args) memory_metrics

tier1_captures := $(addprefix $R/,plan.tsv $(counted) launches.csv)

watched       = $(worker) -g $(workload_generate_tokens) -w 1 -r 1 --profile
watched_after += $(unwatched)
# Bytes of device memory that the worker was seen to take.
taken = $$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i } NR > 1 && $$at["source"] == "allocator" && \
	$$at["used_bytes"] > n { n = $$at["used_bytes"] } END { printf "%.0f", n }' $R/footprint.tsv)
tier0_guard = $(call guard,--need $(taken))
tier2_guard = $(call guard,--need $(taken) --save $(taken))
include mk/stamps.mk mk/tier0.mk mk/tier2.mk mk/tier3.mk

captures := $(addprefix $R/,probe.kv model.kv tensors.tsv) $(gate_captures) $(speed) $(stamps) $(tier0_captures) \
	$(if $(call tier,1),$(tier1_captures)) $(tier2_captures) $(tier3_captures)
gives    := gate model baseline ceilings footprint $(stamps_gives) $(tier0_gives) $(if $(call tier,1),counters launches) $(tier2_gives) $(tier3_gives)

ifneq ($(capturing),)
$R/plan.tsv: $(registry) build/ns-plan | $R/gate.tsv
	build/ns-plan -m $< --tier 1 --chip $(chip_name) --recorded configs/platforms/$(platform)/plan.tsv $(into)

$R/phases.csv: $(watched_sum) $(call recall,$R/phases.csv,$(range_args)) | $(watched_after)
	$(call guard,--need $(taken) $(if $(filter kernel,$(tier1)),--save $(taken)))
	$(if $(filter file,$(origin TIER1)),echo "phases: no libcupti of CUDA 12.6 update 2 or later here: ncu counts and runs the program once a pass" >&2)
	rm -f $@.tmp
	$(call stage,phases) $(call ncu,$(ranges)) --replay-mode $(if $(filter kernel,$(tier1)),kernel,app-range) \
		--metrics $(range_metrics) $(watched) >/dev/null $(or_why)
	$(call whole_table,$(ranges),$(range_metrics))
	mv $@.tmp $@
	$(call record,$(range_args))

# By the worker, which repeats its run once a pass and says what of it was not counted.
$R/inside.tsv: $(watched_sum) $(call recall,$R/inside.tsv,$(range_args)) | $(watched_after)
	$(call guard,--need $(taken))
	$(call stage,inside) $(worker) -g $(workload_generate_tokens) -w 1 --count $(range_metrics) --counters $@.tmp >/dev/null || \
		{ echo "TIER1=$(if $(filter %memory,$(tier1)),memory,range) has ncu count instead, the program run once a pass" >&2; exit 2; }
	mv $@.tmp $@
	$(call record,$(range_args))

# Each launch by itself, in one pass, so that nothing is saved either.
$R/launches.csv: $(watched_sum) $(call recall,$R/launches.csv,$(launch_args)) | $(watched_after)
	$(call guard,--need $(taken))
	rm -f $@.tmp
	$(call stage,launches) $(call ncu,$(ranges)) --metrics $(memory_metrics) $(watched) >/dev/null $(or_why)
	$(call whole_table,$(ranges),$(memory_metrics))
	mv $@.tmp $@
	$(call record,$(launch_args))
endif

$R/counters.tsv $R/launches.tsv: build/ncu2tsv
$R/counters.tsv: $R/$(counted) $(call recall,$R/counters.tsv,counted)
	$(if $(filter inside.tsv,$(counted)),cat,build/ncu2tsv $(call asked,phases.csv,range_metrics)) $< $(into)
	$(call record,counted)
$R/launches.tsv: $R/launches.csv
	build/ncu2tsv $(call asked,launches.csv,memory_metrics) $< $(into)
