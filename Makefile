# nsbench: where a token spends its time, rung by rung of the memory hierarchy.
#
#	make			build the tools into build/
#	make test		test them; needs no GPU and no network
#	make lint		static checks and the manual pages
#	make sanitize		the tests again under ASan and UBSan
#	make bench		speed, as ratios within one run
#	make docs		the pages that are made from configs/; make plans: passes
#	make examples		the reports under docs/examples/, of their captures
#	make install		into DESTDIR PREFIX
#	make kit		one file for machines with nothing but the driver and its profilers
#	make -f mk/run.mk MODEL=tiny	the main job: from checkpoint to report

include mk/common.mk

# A new tool is one word here, one file in tools/, one page in docs/man/ and
# one test in tests/.
tools := \
	cg2tsv \
	llb2tsv \
	ncu2tsv \
	ns-calib \
	ns-check \
	ns-choose \
	ns-detail \
	ns-discover \
	ns-guard \
	ns-integrate \
	ns-phases \
	ns-plan \
	ns-plot \
	ns-probe \
	ns-readset \
	ns-report \
	ns-rollup \
	ns-roofline \
	ns-sampled \
	ns-sets \
	ns-source \
	ns-stamps \
	ns-synth \
	ns-timeline \
	ns-trace \
	ns-worker \
	nsys2tsv \
	yaml2kv \

.PHONY: all
all: $(tools:%=build/%)

ifeq ($(wildcard build/kit.kv),)
include mk/build.mk
include mk/kit.mk
include mk/check.mk
include mk/bench.mk
include mk/docs.mk
include mk/fuzz.mk
else
include mk/unpacked.mk
endif

.PHONY: help
help:
	@sed -n 's/^#	/  /p' Makefile
