# The cuda backend: ns-worker on an NVIDIA GPU, watched by Nsight Systems and
# Nsight Compute.  Which chip that is, and so which counters, ns-probe says.
#
#	TIERS=0,1,2	0: timeline and sampled counters (nsys); 1: totals of a
#		phase (ncu); 2: detail of the kernels that take most time (ncu)
#	TIER1=range	all counters of the registry, the program run once a pass;
#		memory: those of memory alone, one pass; kernel: kernel by kernel,
#		the slow witness, for small models
#	GUARD=		capture although ns-guard has found a reason not to

TIERS := 0,1,2
TIER1 := range
GUARD := build/ns-guard
PLATFORM :=

comma := ,
tiers := $(subst $(comma), ,$(TIERS))
$(if $(filter-out 0 1 2 3,$(tiers)),$(error TIERS=$(TIERS): a list of 0, 1, 2 and 3 was expected))
$(if $(filter $(TIER1),range memory kernel),,$(error TIER1=$(TIER1): range, memory or kernel was expected))
tier = $(filter $1,$(tiers))

# ---- the chip, and the platform that describes it; a dry run takes the last ones

ifeq ($(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),)
include $R/chip.kv
else
chip_platform := gh100
chip_name     := GH100
$(foreach l,$(file <$R/chip.kv),$(eval $l))
endif
platform := $(or $(PLATFORM),$(chip_platform))
registry := configs/platforms/$(platform)/metrics.tsv

$R/chip.kv: $R/probe.kv
	{ sed -n 's/^platform=/chip_platform=/p; s/^gpu_chip=/chip_name=/p' $<; } $(into)

kv_bytes         = $$(if grep -qx dtype=F32 $R/model.kv; then echo 4; else echo 2; fi)
activation_bytes :=
device           := cuda
gated            := $R/gate.csv
include mk/speed.mk

# ---- counters by ncu: which, and of which ranges

# Metrics of tier 1, and those of memory that cost one pass together.
ncu_metrics := $(shell awk -F '\t' 'NR > 1 && $$6 <= 1 { print $$4 }' $(registry) | awk '!seen[$$0]++')
memory_metrics := $(shell awk -F '\t' 'NR > 1 && ($$2 == "memory" && $$6 <= 1 && $$7 != "witness" || $$1 == "time") { print $$4 }' $(registry) | awk '!seen[$$0]++')
gate_metrics := $(shell awk -F '\t' 'NR > 1 && $$1 == "bytes" && ($$2 == "memory" || $$2 == "l2" && $$6 <= 1) { print $$4 }' $(registry) | awk '!seen[$$0]++')
list = $(subst $( ) ,$(comma),$(strip $1))
$( ) := $( )
