# What is made from the platforms' registries and kept: docs/02 and the plans.
.PHONY: docs plans
registries = $(sort $(wildcard configs/platforms/*/*.tsv))
docs:
	$(call quiet,DOCS,docs/02-metric-reference.md)awk -f docs/02-metric-reference.awk $(registries) \
		>docs/02-metric-reference.md.tmp && mv docs/02-metric-reference.md.tmp docs/02-metric-reference.md

# The passes of each chip of each platform, as the CUPTI of this machine has them.
plans: $(patsubst configs/platforms/%/samples.tsv,plan-%,$(wildcard configs/platforms/*/samples.tsv))
plan-%: build/ns-plan build/yaml2kv
	$(call quiet,PLAN,configs/platforms/$*)d=configs/platforms/$*; \
	chips=$$(build/yaml2kv $$d/platform.yaml | sed -n 's/^chips=//p'); \
	for chip in $${chips//,/ }; do build/ns-plan -m $$d/metrics.tsv --chip $$chip || exit 2; done | \
		awk 'NR == 1 || !/^chip\t/' >$$d/plan.tsv.tmp && mv $$d/plan.tsv.tmp $$d/plan.tsv

# The reports under docs/examples/, of the captures beside them; NAME-MODEL is its folder.
.PHONY: examples
examples: all
	for d in docs/examples/*/; do n=$$(basename $$d) r=build/examples/$$n; \
		rm -rf $$r && mkdir -p build/examples && cp -R $$d/captures $$r && xz -d $$r/*.xz && \
		MAKEFLAGS= $(MAKE) -s -f mk/run.mk MODEL=$${n#*-} BACKEND=cuda R=$$r report >/dev/null && \
		cp -R $$r/report.md $$r/figures $$d || exit; done
