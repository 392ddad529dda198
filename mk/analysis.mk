# From captures to report: one filter, one file.  Nothing here can start a
# profiler, and nothing needs the checkpoint, a config or the machine.

analysed = $(addprefix $R/,gate.counters.tsv gate.hierarchy.tsv gate.tsv counters.tsv hierarchy.tsv \
	steps.tsv readset.tsv checks.tsv roofline.tsv manifest.kv report.md report.html report.json \
	figures)

metrics := configs/platforms/$(platform)/metrics.tsv

$R/platform.kv: configs/platforms/$(platform)/platform.yaml build/yaml2kv
	build/yaml2kv $< $(into)

# The gate comes first, and a run whose gate fails stops here.
$R/gate.hierarchy.tsv: $R/gate.counters.tsv $(metrics) build/ns-rollup
	build/ns-rollup -m $(metrics) $< $(into)
$R/gate.tsv: $R/gate.hierarchy.tsv $R/gate.expected.tsv $R/platform.kv build/ns-calib
	build/ns-calib judge -e $R/gate.expected.tsv -t $(platform_gate_tolerance_ratio) $< $(into)

$R/hierarchy.tsv $R/steps.tsv: $R/counters.tsv $R/baseline.tsv $(metrics) build/ns-rollup
$R/hierarchy.tsv:
	build/ns-rollup -m $(metrics) -b $R/baseline.tsv $< $(into)
$R/steps.tsv:
	build/ns-rollup -m $(metrics) -b $R/baseline.tsv --steps $< $(into)

# What was asked of the worker is what it recorded, whatever the configs say now.
$R/readset.tsv: $R/tensors.tsv $R/model.kv $R/routing.tsv $R/baseline.tsv build/ns-readset
	. ./$R/baseline.tsv.args && build/ns-readset -m $R/model.kv --routing $R/routing.tsv \
		--kv-bytes $(kv_bytes) -p $$workload_prompt_tokens -g $$workload_generate_tokens \
		-B $$workload_batch $< $(into)

$R/roofline.tsv: $R/hierarchy.tsv $R/readset.tsv $R/baseline.tsv $R/ceilings.kv build/ns-roofline
	build/ns-roofline -c $R/ceilings.kv -r $R/readset.tsv -b $R/baseline.tsv $< $(into)

# A check that fails is an answer, told by the report and by the run's own end.
$R/checks.tsv: $R/gate.tsv $R/hierarchy.tsv $R/steps.tsv $R/readset.tsv $R/roofline.tsv $R/platform.kv \
		$(captures) build/ns-check
	build/ns-check $R >$@.tmp || [ $$? -eq 1 ]
	mv $@.tmp $@

# What everything was made with: parameters, versions, wall time of each stage.
$R/manifest.kv: $(captures) mk/analysis.mk
	{ for f in $R/*.args; do n=$$(basename $$f .args); sed "s/^/$${n//[^a-z0-9]/_}_/" $$f; done; \
	  } $(into)

figures := ladder roofline sweep footprint phases
$R/figures: ; mkdir -p $@
$(figures:%=$R/figures/%.svg): $R/figures/%.svg: $R/checks.tsv build/ns-plot | $R/figures
	build/ns-plot $* $R | gnuplot $(into)

$R/report.md $R/report.html $R/report.json: $(figures:%=$R/figures/%.svg) $R/checks.tsv $R/manifest.kv \
		build/ns-report $(call recall,$R/report.md,profile_top_kernels)
$R/report.md:
	build/ns-report -f md -k $(profile_top_kernels) $R $(into)
	$(call record,profile_top_kernels)
$R/report.html $R/report.json: $R/report.md
$R/report.html:
	build/ns-report -f html -k $(profile_top_kernels) $R $(into)
$R/report.json:
	build/ns-report -f json -k $(profile_top_kernels) $R $(into)
