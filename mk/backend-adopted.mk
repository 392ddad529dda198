# Captures made elsewhere, by whatever: TIMELINE an SQLite export of Nsight
# Systems, COUNTERS a CSV of Nsight Compute, BASELINE a JSON of llama-bench.
# Each is turned into tables in $R once; after that the original is not needed.
#
#	RANGES=, LAST_GRAPHS=, WINDOW=  what a phase is in the timeline: mk/windows.mk
#	PLATFORM=NAME  configs/platforms/NAME: what the counters mean; otherwise that of
#		the chip that the timeline names
#
# Counters that were sampled beside a timeline are the second source of bytes, or
# the only one.

TIMELINE :=
COUNTERS :=
BASELINE :=
PLATFORM :=

$(if $(PLATFORM),$(if $(wildcard configs/platforms/$(PLATFORM)/platform.yaml),,$(error PLATFORM=$(PLATFORM): there is \
	$(patsubst configs/platforms/%/platform.yaml,%,$(wildcard configs/platforms/*/platform.yaml)))))

had = $(if $(wildcard $R/$1),$2)
timeline := $(or $(if $(TIMELINE),timeline),$(call had,work.tsv,timeline))

# What a timeline says of its chip and its samples is settings, made from it
# before all else; a dry run takes those of the last time.
named := $(or $(PLATFORM),$(filter $(patsubst configs/platforms/%/platform.yaml,%,$(wildcard configs/platforms/*/platform.yaml)),\
	$(file <$R/platform)))
sampled_platform :=
sampled_metrics :=
ifneq ($(timeline),)
ifeq ($(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),)
include $R/sampled.kv
else
$(foreach l,$(file <$R/sampled.kv),$(eval $l))
endif
endif
platform := $(or $(named),$(filter-out NA,$(sampled_platform)))
counted  := none

gives := $(timeline) $(if $(filter-out NA,$(sampled_metrics)),sampled) \
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
adopted := work.tsv ranges.tsv api.tsv samples.tsv diagnostics.tsv
$(foreach t,$(adopted),$(eval $R/$t: $(call adopt,$t,timeline_id)))
$(adopted:%=$R/%): $R/%.tsv: build/nsys2tsv
	build/nsys2tsv $* $(TIMELINE) $(into)
	$(call record,timeline_id)
$R/meta.kv: build/nsys2tsv $(call adopt,meta.kv,timeline_id)
	build/nsys2tsv meta $(TIMELINE) $(into)
	$(call record,timeline_id)
endif
ifneq ($(COUNTERS),)
$R/counters.tsv: build/ncu2tsv $(call adopt,counters.tsv,counters_id)
	build/ncu2tsv $(COUNTERS) $(into)
	$(if $(PLATFORM),echo '$(PLATFORM)' >$R/platform)
	$(call record,counters_id)
endif
ifneq ($(BASELINE),)
$R/baseline.tsv: build/llb2tsv $(call adopt,baseline.tsv,baseline_id)
	build/llb2tsv $(BASELINE) $(into)
	$(call record,baseline_id)
endif
endif

# The platform, and which of its counters were sampled.
$R/sampled.kv: $R/samples.tsv $R/meta.kv build/ns-integrate $(call recall,$R/sampled.kv,named)
	$(if $(PLATFORM),echo '$(PLATFORM)' >$R/platform)
	chip=$$(sed -n 's/^gpu_0_chip=//p' $R/meta.kv); why=$(if $(named),given,gpu_0_chip=$$chip); \
	p=$(or $(named),$$(grep -lE "^chips: .*[[ ]$$chip[],]" configs/platforms/*/platform.yaml || true)); \
	p=$${p%/platform.yaml}; p=$${p##*/}; m=configs/platforms/$$p/samples.tsv; \
	{ echo "sampled_platform=$${p:-NA}"; echo "sampled_platform_why=$${why//=/:}"; \
	  [ ! -e $$m ] || build/ns-integrate --names -m $$m $< | awk -F '\t' 'FNR == 1 { next } NR == FNR { known[$$4]; next } \
		$$3 in known { all = all s $$3; s = "," } END { print "sampled_metrics=" (s == "" ? "NA" : all) }' $$m -; } $(into)
	$(call record,named)

include mk/windows.mk
