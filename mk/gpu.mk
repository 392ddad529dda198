# What any run on an NVIDIA GPU begins with: the chip and what describes it, the
# guard, and the gate.  Which chip that is, and so which counters, ns-probe says.
#
#	GUARD=		capture although ns-guard found a reason not to
#	PLATFORM=NAME	other counters than those that configs/platforms/ has for this chip
#
# Before the include: R, capturing.  After it: platform, registry and metrics_where,
# chip_name, chip_cupti, ncu_program, guard, gate_captures and what they give.

GUARD    := build/ns-guard
PLATFORM :=

# ---- the chip and what describes it, the profilers and where they are

chip_platform :=
chip_name     :=
chip_ncu      :=
chip_nsys     :=
chip_cupti    :=
ifeq ($(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),)
include $R/chip.kv
else
$(foreach l,$(file <$R/chip.kv),$(eval $l))
endif
platform := $(or $(PLATFORM),$(filter-out NA,$(chip_platform)),gh100)
registry := configs/platforms/$(platform)/metrics.tsv
$(if $(wildcard $(registry)),,$(error PLATFORM=$(platform): there is \
	$(patsubst configs/platforms/%/metrics.tsv,%,$(wildcard configs/platforms/*/metrics.tsv))))

$R/chip.kv: $R/probe.kv
	! grep -qx gpu=NA $< || { echo "no GPU here ($$(sed -n 's/^gpu_why=//p' $<)): BACKEND=cpu measures ns-worker without one" >&2; exit 2; }
	! grep -qx platform=cpu $< || [ "$(PLATFORM)" ] || { echo "this GPU is not known ($$(sed -n 's/^platform_why=//p' $<)):" \
		"PLATFORM=NAME counts it as another, or describe it in configs/platforms/" >&2; exit 2; }
	sed -n '/=[A-Za-z0-9._/:,@+-]*$$/!d; s/^platform=/chip_platform=/p; s/^gpu_chip=/chip_name=/p; s/^ncu=/chip_ncu=/p; s/^nsys=/chip_nsys=/p; s/^cupti_version=/chip_cupti=/p' $< $(into)

kv_bytes         = $$(if grep -qix dtype=f32 $R/model.kv; then echo 4; else echo 2; fi)
activation_bytes :=
device           := cuda
ncu_program      := $(or $(filter-out NA,$(chip_ncu)),ncu)

guard = $(if $(GUARD),build/ns-probe | $(GUARD) $1 >/dev/null || { echo "GUARD= captures all the same" >&2; exit 2; },:)

# ---- the gate

# The registry's metrics, in rows where an awk condition holds.
metrics_where = $(call list,$(shell awk -F '\t' 'NR > 1 && ($1) && !seen[$$4]++ { print $$4 }' $(registry)))
gate_metrics := $(call metrics_where,$$1 == "bytes" && ($$2 == "memory" || $$2 == "l2" && $$6 <= 1))
gated        := $R/gate.csv
gate_captures := $(addprefix $R/,gate.csv gate.expected.tsv)

ifneq ($(capturing),)
# Caches as the program left them, clocks as they are: what runs is what is counted.
# ncu leaves its table, or why there is none, in $@.tmp; its status tells little.
ncu = $(ncu_program) --target-processes all --clock-control none --cache-control none \
	--csv --page raw --print-units base --print-fp --log-file $@.tmp --nvtx $(patsubst %,--nvtx-include nsbench@%/,$1)
or_why = || { build/ncu2tsv $@.tmp >/dev/null; exit 2; }
whole_table = build/ncu2tsv --ranges $(call list,$1) --metrics $2 $@.tmp >/dev/null

# The program runs once a pass, so that nothing is saved and restored, and says each
# time what it moves.
$R/gate.csv: build/ns-calib.sum $(call recall,$R/gate.csv,gate_metrics) | build/ns-guard build/ncu2tsv
	$(call guard,--need 0)
	rm -f $@.tmp
	$(call stage,gate) $(call ncu,read write copy reread) --replay-mode app-range --metrics $(gate_metrics) \
		build/ns-calib -d cuda gate | awk '!said[$$0]++' >$R/gate.expected.tsv.tmp $(or_why)
	$(call whole_table,read write copy reread,$(gate_metrics))
	mv $R/gate.expected.tsv.tmp $R/gate.expected.tsv
	mv $@.tmp $@
	$(call record,gate_metrics)
endif

asked = $(patsubst $2=%,--metrics %$(comma)profiler__replayer_passes,$(filter $2=%,$(file <$R/$1.args)))
$R/gate.counters.tsv: $R/gate.csv build/ncu2tsv
	build/ncu2tsv $(call asked,gate.csv,gate_metrics) $< $(into)
