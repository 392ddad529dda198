# From captures to report: one filter, one file.  Nothing here can start a
# profiler, and nothing needs the checkpoint or the machine.
#
# A backend says what it gives: gate, counters, launches (counters, launch by
# launch), sampled (counters, within a timeline), detail (single kernels), source
# (their instructions), stamps (of a decode step, from within), model, baseline,
# ceilings, timeline, command (a program that is not ours).  What it does not give is
# absent from the report, which says so.

gives_  = $(filter $1,$(gives))
gate_tables     := $(addprefix $R/,gate.tsv gate.terms.tsv)
count_tables    := $(addprefix $R/,hierarchy.tsv steps.tsv terms.tsv)
need_tables     := $(addprefix $R/,workload.kv readset.tsv)
timeline_tables := $(addprefix $R/,timeline.tsv families.tsv kernels.tsv gaps.tsv idle.tsv calls.tsv)
source_tables   := $(addprefix $R/,source.tsv source-kernels.tsv)
tables := $(captures)
figures :=

$R/platform.kv: configs/platforms/$(platform)/platform.yaml build/yaml2kv \
		$(if $(filter name=$(platform),$(file <$R/platform.kv)),,changed/platform)
	build/yaml2kv $< $(into)
metrics := configs/platforms/$(platform)/metrics.tsv

# ---- the gate comes first, and a run whose gate fails stops here

ifneq ($(call gives_,gate),)
tables += $(gate_tables) $R/platform.kv
# Of the registry, what the gate counted: of the rest it has nothing to say.
$R/gate.metrics.tsv: $R/gate.counters.tsv $(metrics)
	awk -F '\t' 'NR == FNR { counted[$$6] = 1; next } FNR == 1 || $$4 in counted' $^ $(into)
$R/gate.hierarchy.tsv: $R/gate.counters.tsv $R/gate.metrics.tsv build/ns-rollup
	build/ns-rollup -m $R/gate.metrics.tsv $< $(into)
$R/gate.terms.tsv: $R/gate.counters.tsv $R/gate.metrics.tsv build/ns-rollup
	build/ns-rollup --terms -m $R/gate.metrics.tsv $< $(into)
$R/gate.tsv: $R/gate.hierarchy.tsv $R/gate.expected.tsv $R/platform.kv build/ns-calib
	t=$$(sed -n 's/^gate_tolerance_ratio=//p' $R/platform.kv); \
	build/ns-calib judge -e $R/gate.expected.tsv -t $$t $< >$@.tmp || \
	{ cat $@.tmp >&2; echo "the gate failed: counters do not count what they should; nothing was captured" >&2; exit 1; }
	mv $@.tmp $@
endif

# ---- counters to bytes at every rung, beside what must move

registry_counters := $(metrics)
registry_sampled  := configs/platforms/$(platform)/samples.tsv
counts := $(strip $(foreach c,counters sampled,$(call gives_,$c)))
ifneq ($(counts),)
tables += $R/platform.kv $(count_tables) $(if $(call gives_,launches),$R/launches.tsv)
figures += ladder
# Each source by its own registry; of the headers, the first.
rollup = { $(foreach c,$(counts),build/ns-rollup -m $(registry_$c) $1 $R/$c.tsv;) } | awk 'NR == 1 { head = $$0; print } $$0 != head' $(into)
baseline := $(if $(call gives_,baseline),-b $R/baseline.tsv)
$(count_tables): $(counts:%=$R/%.tsv) $(foreach c,$(counts),$(registry_$c)) $R/platform.kv \
		build/ns-rollup $(if $(call gives_,baseline),$R/baseline.tsv)
$R/hierarchy.tsv:
	$(call rollup,$(baseline))
$R/steps.tsv:
	$(call rollup,--steps $(baseline))
$R/terms.tsv:
	$(call rollup,--terms)
endif

# Sampled in runs of their own (mk/tier0.mk), or in that of the timeline.
ifneq ($(call gives_,sampled),)
ifneq ($(value sets),)
tables += $R/sampling.tsv
else
$R/sampled.tsv: $R/samples.tsv $R/phased.tsv $(registry_sampled) $R/platform.kv build/ns-integrate
	build/ns-integrate --busy $(whole) -w $R/phased.tsv -m $(registry_sampled) $< $(into)
endif
endif

# What was asked is what the run alone recorded, whatever the configs say now.
ifneq ($(call gives_,model),)
tables += $(need_tables)
routing := $(filter routing.tsv,$(unwatched_beside))
$R/workload.kv: $(unwatched)
	sed -n 's/^workload_\([a-z0-9_]*=[A-Za-z0-9._/:,@+-]*\)$$/\1/p' $<.args $(into)
$R/readset.tsv: $R/tensors.tsv $R/model.kv $(routing:%=$R/%) $R/workload.kv build/ns-readset
	. ./$R/workload.kv && build/ns-readset -m $R/model.kv $(routing:%=--routing $R/%) --kv-bytes $(kv_bytes) \
		$(activation_bytes:%=--activation-bytes %) \
		-p $$prompt_tokens -g $$generate_tokens -B $$batch $< $(into)
ifneq ($(call gives_,ceilings),)
tables += $R/roofline.tsv
figures += roofline sweep
$R/roofline.tsv: $R/steps.tsv $R/readset.tsv $R/baseline.tsv $R/ceilings.kv $R/model.kv build/ns-roofline
	build/ns-roofline -c $R/ceilings.kv -m $R/model.kv -r $R/readset.tsv -b $R/baseline.tsv $< $(into)
endif
endif

# ---- what the GPU did, and when it waited

ifneq ($(call gives_,timeline),)
tables += $(timeline_tables)
figures += timeline
timeline = build/ns-timeline $(whole) --meta $R/meta.kv $1 $R/phased.tsv $(into)
$(timeline_tables): $R/phased.tsv $R/meta.kv build/ns-timeline
# Without windows the whole capture is one.
whole = $(if $(filter whole,$(file <$R/windows)),--all)
$R/timeline.tsv:
	$(call timeline,)
$R/families.tsv: configs/families.tsv
	$(call timeline,-f configs/families.tsv)
$R/kernels.tsv:
	$(call timeline,--kernels)
$R/gaps.tsv: $R/api.tsv
	$(call timeline,--gaps --api $R/api.tsv)
$R/idle.tsv: $R/api.tsv
	$(call timeline,--classes --api $R/api.tsv)
$R/calls.tsv: $R/api.tsv
	$(call timeline,--calls --api $R/api.tsv)
$R/trace.json: $R/work.tsv $R/ranges.tsv $R/api.tsv $R/samples.tsv build/ns-trace
	build/ns-trace -w $R/work.tsv -r $R/ranges.tsv --api $R/api.tsv --samples $R/samples.tsv $(into)
endif

# ---- a decode step that is one kernel, from within

ifneq ($(call gives_,stamps),)
tables += $R/ops.tsv
figures += ops
$R/ops.tsv: $R/stamps.tsv $R/readset.tsv $R/ceilings.kv build/ns-stamps
	build/ns-stamps -r $R/readset.tsv -c $R/ceilings.kv $< $(into)
endif

# ---- single kernels, looked at closely

ifneq ($(call gives_,detail),)
tables += $R/detail.tsv
detail := configs/platforms/$(platform)/detail.tsv
$R/detail.tsv: $R/chosen.tsv $(filter $R/kernels-%.csv,$(captures)) $(metrics) $(detail) build/ncu2tsv build/ns-detail \
		$(if $(call gives_,ceilings),$R/ceilings.kv)
	cat $(filter %.csv,$^) | build/ncu2tsv | build/ns-detail -m $(metrics) -d $(detail) --chosen $< \
		$(if $(call gives_,ceilings),-c $R/ceilings.kv) $(into)
endif

# Their instructions; of the headers, the first.
ifneq ($(call gives_,source),)
tables += $(source_tables)
sources := $(patsubst $R/source-%.csv,%,$(filter $R/source-%.csv,$(captures)))
source = { $(foreach p,$(sources),build/ns-source $1 -p $p --chosen $R/chosen.tsv $R/source-$p.csv;) } | \
	awk 'NR == 1 { head = $$0; print } $$0 != head' $(into)
$(source_tables): $R/chosen.tsv $(sources:%=$R/source-%.csv) build/ns-source
$R/source.tsv:
	$(call source,)
$R/source-kernels.tsv:
	$(call source,--kernels)
endif

tables += $(if $(call gives_,command),$R/command.kv $R/baseline.tsv)
figures += $(if $(call gives_,footprint),footprint) $(if $(call gives_,baseline),phases)

# ---- checks and report

# A check that fails is an answer: the report tells it, and the run ends with it.
asked_steps = $(patsubst counted_steps=%,-s %,$(filter counted_steps=%,$(file <$R/$(counted).args)))
$R/checks.tsv: $(tables) build/ns-check
	build/ns-check $(asked_steps) $R >$@.tmp || [ $$? -eq 1 ]
	mv $@.tmp $@

# Wall time of each stage, and the values that each capture was made with.
$R/stages.tsv: $(captures)
	{ printf 'stage\tdur_ns\n'; cat $(captures:%=%.stage) 2>/dev/null || true; } $(into)
$R/manifest.kv: $(captures) $(if $(call gives_,counters),$R/counters.tsv) build/ns-report
	{ build/ns-report --version | sed 's/.* /nsbench_version=/'; \
	  [ ! -e $R/model.kv ] || sed -n 's/^fingerprint=/model_fingerprint=/p' $R/model.kv; \
	  [ ! -e $R/worker.kv ] || sed -n '/=NA$$/!s/^/worker_kv_/p' $R/worker.kv; \
	  [ ! -e $R/probe.kv ] || sed -n '/^[a-z0-9_]*_version=/{/=NA$$/!p}' $R/probe.kv; \
	  [ ! -e $R/plan.tsv ] || awk 'NR > 1 && $$2 + $$3 > n { n = $$2 + $$3 } END { print "plan_n_passes=" n - 1 }' $R/plan.tsv; \
	  [ ! -e $R/counters.tsv ] || awk -F '\t' '$$6 == "profiler__replayer_passes" && $$7 > n { n = $$7 } END { if (n) print "counters_n_passes=" n }' $R/counters.tsv; \
	  for f in $(captures:%=%.args); do n=$${f##*/}; n=$${n%.args}; \
		[ ! -e $$f ] || sed "s/^/$${n//[^a-z0-9]/_}_/" $$f; done; } $(into)

# Without gnuplot, figures stay while they are true.
drawn := $(figures:%=$R/figures/%.svg)
ifneq ($(shell command -v gnuplot),)
draw = $(call quiet,PLOT,$@)mkdir -p $(@D) && build/ns-plot $* $R | gnuplot $(into)
else
drawn := $(wildcard $(drawn))
draw = rm -rf $(@D)
endif
$(drawn): $R/figures/%.svg: $R/checks.tsv $(tables) build/ns-plot
	$(draw)

$R/report.md $R/report.html $R/report.json: $(tables) $(drawn) $(wildcard $(metrics)) \
	$(addprefix $R/,checks.tsv stages.tsv manifest.kv) build/ns-report
report = build/ns-report -f $1 -k $(profile_top_kernels) $(if $(call gives_,counters),-m $(metrics)) $R
$R/report.md: $(call recall,$R/report.md,profile_top_kernels)
	$(call report,md) $(into)
	$(call record,profile_top_kernels)
$R/report.html $R/report.json: $R/report.%: $R/report.md
	$(call report,$*) $(into)

# For other programs, only when asked for.
$R/compact.json: $(tables) build/ns-report
	$(call report,compact) $(into)

# What a run can make again without capturing, of whichever tiers it is.
analysed := $(sort $(filter-out $(captures),$(gate_tables) $(count_tables) $(need_tables) $(timeline_tables) $(source_tables) \
	$R/figures $R/sampled-*.tsv $(addprefix $R/,platform.kv roofline.tsv ops.tsv detail.tsv checks.tsv stages.tsv manifest.kv \
	gate.counters.tsv gate.metrics.tsv gate.hierarchy.tsv counters.tsv counters.tsv.args launches.tsv sampled.tsv sampled.kv sampling.tsv phased.tsv windows \
	work.tsv ranges.tsv api.tsv samples.tsv diagnostics.tsv meta.kv trace.json compact.json command.kv baseline.tsv \
	report.md report.md.args report.html report.json)))
