# Tier 2: the kernels that take most time, looked at closely: one launch of each,
# alone, replayed by Nsight Compute until all of its counters are known.
#
# Before the include: R, platform, tiers, watched_args (names of the values that a
# capture depends on), watched (the command), watched_sum and watched_after (other
# prerequisites), as for tier0.mk, which makes $R/timeline.sqlite, and ncu_program.
# After it: tier2_captures and tier2_gives.  tier2_guard runs before a capture.
#
#	NCU_SET=full	the sections of ncu that are recorded besides the registry's counters
#
# Caches are flushed before each replay, or they would hold what the last one read:
# a launch finds them cold, and bytes of memory are at most too many.

NCU_SET := full

tier2_phases   := $(if $(filter 2,$(tiers)),prefill $(if $(filter-out 0,$(workload_generate_tokens)),decode))
tier2_csv      := $(tier2_phases:%=$R/kernels-%.csv)
tier2_captures := $(if $(tier2_csv),$R/chosen.tsv $(tier2_csv))
tier2_gives    := $(if $(tier2_csv),detail)

ifneq ($(tier2_csv),)
ifneq ($(capturing),)
$(if $(or $(filter 0,$(tiers)),$(wildcard $R/timeline.sqlite)),,$(error TIERS=$(tiers): tier 2 takes its kernels from \
	the timeline, which tier 0 makes: TIERS=0,2))
chosen_args := $(watched_args) profile_top_kernels
tier2_set   := $(NCU_SET)
tier2_args  := $(chosen_args) tier2_set tier2_metrics
tier2_guard ?=
tier2_about := -m configs/platforms/$(platform)/metrics.tsv -d configs/platforms/$(platform)/detail.tsv

# All of the registry, and what detail.tsv names; facts of a launch come with the sections.
tier2_metrics := $(shell awk -F '\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i; next } \
	!("tier" in at && $$at["tier"] > 2) && $$at["metric"] !~ /^launch__|_cycle_pct$$/ && !seen[$$at["metric"]]++ \
	{ printf "%s%s", n++ ? "," : "", $$at["metric"] }' configs/platforms/$(platform)/metrics.tsv configs/platforms/$(platform)/detail.tsv)
tier2_ncu = $(ncu_program) --target-processes all --clock-control none --cache-control all \
	--replay-mode kernel --graph-profiling node --csv --page raw --print-units base --print-fp --log-file $@.tmp \
	--set $(tier2_set) --metrics $(tier2_metrics)

$R/chosen.tsv: $(watched_sum) $(call recall,$R/chosen.tsv,$(chosen_args)) | $R/timeline.sqlite \
		build/nsys2tsv build/ns-phases build/ns-choose
	build/nsys2tsv ranges $R/timeline.sqlite >$@.ranges.tmp
	build/nsys2tsv --name mangled work $R/timeline.sqlite | build/ns-phases -r $@.ranges.tmp | \
		build/ns-choose -k $(profile_top_kernels) $(into)
	rm $@.ranges.tmp
	$(call record,$(chosen_args))

# ncu says in its table why there is none; names reach it unread by any shell.
$(foreach p,$(tier2_phases),$(eval $R/kernels-$p.csv: $(call recall,$R/kernels-$p.csv,$(tier2_args))))
$(tier2_csv): $R/kernels-%.csv: $(watched_sum) | $R/chosen.tsv $(watched_after) build/ns-choose build/ncu2tsv build/ns-detail
	$(tier2_guard)
	rm -f $@.tmp
	build/ns-choose --ask -p $* $R/chosen.tsv >$@.ask.tmp
	mapfile -d '' -t ask <$@.ask.tmp; $(call stage,kernels-$*) $(tier2_ncu) "$${ask[@]}" $(watched) >/dev/null || \
		{ build/ncu2tsv $@.tmp >/dev/null; exit 2; }
	build/ncu2tsv $@.tmp >$@.counters.tmp
	build/ns-detail $(tier2_about) --chosen $R/chosen.tsv -p $* $@.counters.tmp >/dev/null
	rm $@.ask.tmp $@.counters.tmp
	mv $@.tmp $@
	$(call record,$(tier2_args))
endif
endif
