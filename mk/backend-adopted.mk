# Captures made elsewhere, by whatever: TIMELINE an SQLite export of Nsight
# Systems, COUNTERS a CSV of Nsight Compute, BASELINE a JSON of llama-bench.
# Each is turned into tables in $R once; after that the original is not needed.
#
#	RANGES=REGEX  LAST_GRAPHS=N  WINDOW=START:END  what a phase is in the timeline;
#		otherwise ranges named prefill and decode.N, else the last 20 CUDA graph
#		launches, else the whole capture
#	PLATFORM=NAME  configs/platforms/NAME: what the counters mean

TIMELINE    :=
COUNTERS    :=
BASELINE    :=
RANGES      :=
LAST_GRAPHS :=
WINDOW      :=
PLATFORM    :=

platform := $(or $(PLATFORM),$(file <$R/platform))
counted  := none

had = $(if $(wildcard $R/$1),$2)
gives := $(or $(if $(TIMELINE),timeline),$(call had,work.tsv,timeline)) \
	$(if $(platform),$(or $(if $(COUNTERS),counters),$(call had,counters.tsv,counters))) \
	$(or $(if $(BASELINE),baseline),$(call had,baseline.tsv,baseline))
captures := $(addprefix $R/,$(if $(filter timeline,$(gives)),work.tsv ranges.tsv api.tsv samples.tsv diagnostics.tsv meta.kv) \
	$(if $(or $(COUNTERS),$(call had,counters.tsv,had)),counters.tsv) $(if $(filter baseline,$(gives)),baseline.tsv))
$(if $(strip $(captures)),,$(error adopt what? TIMELINE=x.sqlite, COUNTERS=y.csv or BASELINE=z.json))
$(foreach f,$(TIMELINE) $(COUNTERS) $(BASELINE),$(if $(wildcard $f),,$(error $f: there is no such file)))

# A file is what it says, not where it lies or when it was touched.
file_id = $(firstword $(if $1,$(shell { wc -c <$1; head -c 1048576 $1; tail -c 65536 $1; } 2>/dev/null | cksum)) none)
timeline_id = $(call file_id,$(TIMELINE))
counters_id = $(call file_id,$(COUNTERS))
baseline_id = $(call file_id,$(BASELINE))

ifneq ($(capturing),)
adopt = $(call recall,$R/$1,$2)
ifneq ($(TIMELINE),)
$(addprefix $R/,work.tsv ranges.tsv api.tsv samples.tsv diagnostics.tsv): $R/%.tsv: build/nsys2tsv $(call adopt,work.tsv,timeline_id)
	build/nsys2tsv $* $(TIMELINE) $(into)
	$(call record,timeline_id)
$R/meta.kv: build/nsys2tsv $(call adopt,meta.kv,timeline_id)
	build/nsys2tsv meta $(TIMELINE) $(into)
	$(call record,timeline_id)
endif
ifneq ($(COUNTERS),)
$R/counters.tsv: build/ncu2tsv $(call adopt,counters.tsv,counters_id)
	build/ncu2tsv $(COUNTERS) $(into)
	echo '$(platform)' >$R/platform
	$(call record,counters_id)
endif
ifneq ($(BASELINE),)
$R/baseline.tsv: build/llb2tsv $(call adopt,baseline.tsv,baseline_id)
	build/llb2tsv $(BASELINE) $(into)
	$(call record,baseline_id)
endif
endif

# The windows asked for, or those that were asked for last, or what is found.
asked := $(strip $(if $(RANGES),-r $R/ranges.tsv --ranges '$(RANGES)') $(if $(LAST_GRAPHS),--last-graphs $(LAST_GRAPHS)) \
	$(if $(WINDOW),--window $(WINDOW)))
windows := $(or $(asked),$(file <$R/windows))
$R/phased.tsv: $R/work.tsv $R/ranges.tsv build/ns-phases $(if $(call same,$(windows),$(file <$R/windows)),,changed/windows)
	try() { build/ns-phases "$$@" $< >$@.tmp 2>$R/phases.log && echo "$$*" >$R/windows; }; \
	$(if $(filter-out whole,$(windows)),try $(windows) || { cat $R/phases.log >&2; exit 2; },\
	try -r $R/ranges.tsv || try -r $R/ranges.tsv --ranges '^(prefill|decode)' || try --last-graphs 20 || \
	{ cp $< $@.tmp && echo whole >$R/windows; })
	[ ! -s $R/phases.log ] || cat $R/phases.log >&2
	mv $@.tmp $@
