# From captures to report: one filter, one file.  Nothing here can start a
# profiler, and nothing needs the checkpoint or the machine.

figures := ladder roofline sweep footprint phases
drawn   := $(figures:%=$R/figures/%.svg)
analysed := $(addprefix $R/,platform.kv workload.kv stages.tsv manifest.kv gate.counters.tsv gate.hierarchy.tsv \
	gate.tsv counters.tsv hierarchy.tsv steps.tsv terms.tsv readset.tsv roofline.tsv checks.tsv) $(drawn) \
	$(addprefix $R/,report.md report.md.args report.html report.json)

metrics := configs/platforms/$(platform)/metrics.tsv

$R/platform.kv: configs/platforms/$(platform)/platform.yaml build/yaml2kv
	build/yaml2kv $< $(into)

# What was asked is what the baseline recorded, whatever the configs say now.
$R/workload.kv: $R/baseline.tsv
	sed -n 's/^workload_//p' $<.args $(into)

# The gate comes first, and a run whose gate fails stops here.
$R/gate.hierarchy.tsv: $R/gate.counters.tsv $(metrics) build/ns-rollup
	build/ns-rollup -m $(metrics) $< $(into)
$R/gate.tsv: $R/gate.hierarchy.tsv $R/gate.expected.tsv $R/platform.kv build/ns-calib
	t=$$(sed -n 's/^gate_tolerance_ratio=//p' $R/platform.kv); \
	build/ns-calib judge -e $R/gate.expected.tsv -t $$t $< >$@.tmp || \
	{ cat $@.tmp >&2; echo "the gate failed: counters do not count what they should; nothing was captured" >&2; exit 1; }
	mv $@.tmp $@

$R/hierarchy.tsv $R/steps.tsv $R/terms.tsv: $R/counters.tsv $R/baseline.tsv $(metrics) build/ns-rollup
$R/hierarchy.tsv:
	build/ns-rollup -m $(metrics) -b $R/baseline.tsv $< $(into)
$R/steps.tsv:
	build/ns-rollup -m $(metrics) -b $R/baseline.tsv --steps $< $(into)
$R/terms.tsv:
	build/ns-rollup -m $(metrics) --terms $< $(into)

$R/readset.tsv: $R/tensors.tsv $R/model.kv $R/routing.tsv $R/workload.kv build/ns-readset
	. ./$R/workload.kv && build/ns-readset -m $R/model.kv --routing $R/routing.tsv --kv-bytes $(kv_bytes) \
		-p $$prompt_tokens -g $$generate_tokens -B $$batch $< $(into)

$R/roofline.tsv: $R/steps.tsv $R/readset.tsv $R/baseline.tsv $R/ceilings.kv $R/model.kv build/ns-roofline
	build/ns-roofline -c $R/ceilings.kv -m $R/model.kv -r $R/readset.tsv -b $R/baseline.tsv $< $(into)

# A check that fails is an answer: the report tells it, and the run ends with it.
tables := $(addprefix $R/,gate.tsv hierarchy.tsv steps.tsv terms.tsv readset.tsv roofline.tsv platform.kv workload.kv) $(captures)
$R/checks.tsv: $(tables) build/ns-check
	build/ns-check -s $$(sed -n 's/^profile_counted_steps=//p' $(counted).args) $R >$@.tmp || [ $$? -eq 1 ]
	mv $@.tmp $@

# Wall time of each stage, and the values that each capture was made with.
$R/stages.tsv: $(captures)
	{ printf 'stage\tdur_ns\n'; cat $(captures:%=%.stage) 2>/dev/null || true; } $(into)
$R/manifest.kv: $(captures) tools/lib/version.h
	{ sed -n 's/^#define NS_VERSION "\(.*\)"/nsbench_version=\1/p' tools/lib/version.h; \
	  for f in $(captures:%=%.args); do n=$${f##*/}; n=$${n%.args}; \
		[ ! -e $$f ] || sed "s/^/$${n//[^a-z0-9]/_}_/" $$f; done; } $(into)

$R/figures: ; mkdir -p $@
$(drawn): $R/figures/%.svg: $R/checks.tsv $(tables) build/ns-plot | $R/figures
	$(call quiet,PLOT,$@)build/ns-plot $* $R | gnuplot $(into)

$R/report.md $R/report.html $R/report.json: $(tables) $(drawn) $(metrics) \
	$(addprefix $R/,checks.tsv stages.tsv manifest.kv) build/ns-report
report = build/ns-report -f $1 -k $(profile_top_kernels) -m $(metrics) $R
$R/report.md: $(call recall,$R/report.md,profile_top_kernels)
	$(call report,md) $(into)
	$(call record,profile_top_kernels)
$R/report.html $R/report.json: $R/report.%: $R/report.md
	$(call report,$*) $(into)
