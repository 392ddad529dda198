# Tier 3, only when asked for: where within the kernels of tier 2 the time goes,
# instruction by instruction: samples of the program counter and why warps waited
# there, and what each access asked of L2 and of shared memory.
#
# Before the include: tier2.mk and what it needs.  After it: tier3_captures and
# tier3_gives.  tier2_guard runs before a capture.
#
#	NCU_SECTIONS=SourceCounters,LaunchStats	the sections of ncu that are recorded
#
# ncu keeps a report, $R/source-PHASE.ncu-rep, which ncu-ui opens; what is read here
# is its raw page, which says which launches there are, and then its source page.

NCU_SECTIONS := SourceCounters,LaunchStats

tier3_phases   := $(if $(filter 3,$(tiers)),prefill $(if $(filter-out 0,$(workload_generate_tokens)),decode))
tier3_csv      := $(tier3_phases:%=$R/source-%.csv)
tier3_captures := $(tier3_csv)
tier3_gives    := $(if $(tier3_csv),source)

ifneq ($(tier3_csv),)
ifneq ($(capturing),)
$(if $(filter 2,$(tiers)),,$(error TIERS=$(tiers): tier 3 takes the kernels that tier 2 chooses: TIERS=0,2,3))
tier3_sections := $(NCU_SECTIONS)
tier3_args := $(chosen_args) tier3_sections
tier3_report  = $R/source-$*.tmp.ncu-rep
tier3_ncu = $(ncu_program) --target-processes all --clock-control none --cache-control all \
	--replay-mode kernel --graph-profiling node --import-source yes --log-file $@.tmp \
	$(patsubst %,--section %,$(subst $(comma), ,$(tier3_sections))) -f -o $(tier3_report)
tier3_import = $(ncu_program) --import $(tier3_report) --csv --print-kernel-base mangled

# The log of a capture says why there is no report, as the table does in tier 2.
$(foreach p,$(tier3_phases),$(eval $R/source-$p.csv: $(call recall,$R/source-$p.csv,$(tier3_args))))
$(tier3_csv): $R/source-%.csv: $(watched_sum) | $R/chosen.tsv $(watched_after) build/ns-choose build/ncu2tsv build/ns-source
	$(tier2_guard)
	rm -f $@.tmp $(tier3_report)
	build/ns-choose --ask -p $* $R/chosen.tsv >$@.ask.tmp
	mapfile -d '' -t ask <$@.ask.tmp; $(call stage,source-$*) $(tier3_ncu) "$${ask[@]}" $(watched) >/dev/null || \
		{ build/ncu2tsv $@.tmp >/dev/null; exit 2; }
	if [ ! -e $(tier3_report) ] || grep -q '^==ERROR==' $@.tmp; then build/ncu2tsv $@.tmp >/dev/null; exit 2; fi
	$(tier3_import) --page raw --print-units base --print-fp >$@.tmp
	$(tier3_import) --page source >>$@.tmp
	build/ns-source -p $* --chosen $R/chosen.tsv $@.tmp >/dev/null
	rm $@.ask.tmp
	mv $(tier3_report) $R/source-$*.ncu-rep
	mv $@.tmp $@
	$(call record,$(tier3_args))
endif
endif
