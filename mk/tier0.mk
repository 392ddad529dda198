# Tier 0: the timeline, and the whole ladder of counters sampled, by Nsight Systems:
# one run for the timeline, one for each set of the platform's samples.tsv.
#
# Before the include: R, platform, tiers, watched_args (names of the values that a
# capture depends on), watched (the command), watched_sum and watched_after (other
# prerequisites).  After it: tier0_captures and tier0_gives.  tier0_guard runs before a
# capture; nsys_options are of nsys.sh, set_options those of a set besides.
#
#	NSYS=PROGRAM	this nsys and no other	NSYS_SETS=DIR	its metric sets

NSYS      :=
NSYS_SETS :=
nsys      = $(or $(NSYS),$(filter-out NA,$(value chip_nsys)),nsys)
tier0_guard  ?=
nsys_options ?= -r cudaProfilerApi
set_options  ?=
include mk/windows.mk

# sets: those of the platform; set_NAME: its metrics.
samples_registry := configs/platforms/$(platform)/samples.tsv
sets :=
$(foreach l,$(shell awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i; next } { n = split($$at["set"], set, ","); \
	for (i = 1; i <= n; i++) if (!((set[i], $$at["metric"]) in has)) { has[set[i], $$at["metric"]]; \
		if (!(set[i] in all)) order[++n_sets] = set[i]; \
		all[set[i]] = all[set[i]] (set[i] in all && all[set[i]] != "" ? "," : "") $$at["metric"] } } \
	END { for (i = 1; i <= n_sets; i++) print "sets+=" order[i], "set_" order[i] ":=" all[order[i]] }' $(samples_registry)),$(eval $l))
sets := $(sort $(sets))

tier0_captures := $(if $(filter 0,$(tiers)),$R/timeline.sqlite $(sets:%=$R/sampled-%.sqlite))
tier0_gives    := $(if $(filter 0,$(tiers)),timeline sampled)

ifneq ($(tier0_captures),)
sampled_args = $(watched_args) profile_sampling_hz set_$1

ifneq ($(capturing),)
capture_tools := build/nsys2tsv build/ns-phases build/ns-integrate build/ns-plan build/ns-sets
nsys_sh = $(call stage,$1) env NSYS=$(nsys) NSYS_SETS=$(NSYS_SETS) mk/nsys.sh $(nsys_options) $2 $@ $(watched)

$R/timeline.sqlite: $(watched_sum) $(call recall,$R/timeline.sqlite,$(watched_args)) | $(watched_after) $(capture_tools)
	$(tier0_guard)
	$(call nsys_sh,timeline,)
	$(call record,$(watched_args))

define capture_set
$R/sampled-$1.sqlite: $(watched_sum) $(call recall,$R/sampled-$1.sqlite,$(call sampled_args,$1)) | $(watched_after) $(capture_tools)
	$$(tier0_guard)
	$$(call nsys_sh,sampled-$1,$(set_options) -s $1 -m $(samples_registry) -c $$(chip_name) -f $(profile_sampling_hz))
	$$(call record,$(call sampled_args,$1))
	@cat $$@.rate >>$$@.args
endef
$(foreach s,$(sets),$(eval $(call capture_set,$s)))
endif

# ---- of the timeline

$(patsubst %,$R/%.tsv,work ranges api samples diagnostics): $R/%.tsv: $R/timeline.sqlite build/nsys2tsv
	build/nsys2tsv $* $< $(into)
$R/meta.kv: $R/timeline.sqlite build/nsys2tsv
	build/nsys2tsv meta $< $(into)

# ---- of each set, within its own run; and all of them together

define sampled_tables
$(patsubst %,$R/sampled-$1.%.tsv,work ranges): $R/sampled-$1.%.tsv: $R/sampled-$1.sqlite build/nsys2tsv
	build/nsys2tsv $$* $$< $$(into)
$R/sampled-$1.phased.tsv: $R/sampled-$1.work.tsv $R/sampled-$1.ranges.tsv $R/phased.tsv build/ns-phases mk/phases.sh
	mk/phases.sh -k $R/windows $R/sampled-$1.ranges.tsv $$< $$(into)
$R/sampled-$1.tsv $R/sampled-$1.totals.tsv: $R/sampled-$1.sqlite $R/sampled-$1.phased.tsv $(samples_registry) build/ns-integrate build/nsys2tsv
	build/nsys2tsv samples $$< | build/ns-integrate --busy $$(or $$(whole),$$(if $$(filter %.totals.tsv,$$@),--totals)) \
		-w $R/sampled-$1.phased.tsv -m $(samples_registry) $$(into)
endef
$(foreach s,$(sets),$(eval $(call sampled_tables,$s)))
$R/sampled.tsv: $(sets:%=$R/sampled-%.tsv) build/ns-sampled
	build/ns-sampled $(foreach s,$(sets),$s=$R/sampled-$s.tsv) $(into)
$R/sampling.tsv: $(sets:%=$R/sampled-%.totals.tsv) build/ns-sampled
	build/ns-sampled --totals $(foreach s,$(sets),$s=$R/sampled-$s.totals.tsv) $(into)
endif
