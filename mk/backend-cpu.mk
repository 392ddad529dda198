# The cpu backend: ns-worker's reference forward.  Speed comes from the machine
# itself, bytes from callgrind's simulation of the caches in platform.yaml.

platform := cpu
kv_bytes := 4
activation_bytes := 4
counted  := worker.callgrind
gives    := gate counters model baseline ceilings footprint
settings_platform := $(call config,platforms/cpu/platform)
$(settings_platform): configs/platforms/cpu/platform.yaml build/yaml2kv
	@mkdir -p $(@D)
	@build/yaml2kv -p platform $< $(into)
include $(settings_platform)

cache_args    := platform_i1 platform_d1 platform_ll
prompt_args   := $(checkpoint_args) $(filter-out workload_generate_tokens,$(workload_args))
# No more steps are counted than the workload has.
counted_steps := $(shell printf '%s\n' $(workload_generate_tokens) $(profile_counted_steps) | sort -n | sed q)
counted_args  := $(prompt_args) $(cache_args) counted_steps
gated         := $R/gate.callgrind
device        := cpu
worker_step   :=
include mk/worker.mk

captures := $(addprefix $R/,probe.kv model.kv tensors.tsv gate.callgrind gate.expected.tsv) $(speed) $R/worker.callgrind

ifneq ($(capturing),)
# An empty environment and one thread: the counts are the same every time.
valgrind := $(firstword $(shell command -v valgrind) valgrind)
callgrind = env -i LC_ALL=C OMP_NUM_THREADS=1 $(valgrind) --tool=callgrind --log-file=$@.log \
	--cache-sim=yes --simulate-wb=yes --instr-atstart=no --combine-dumps=yes \
	--I1=$(platform_i1) --D1=$(platform_d1) --LL=$(platform_ll) --callgrind-out-file=$@.tmp
valgrind_there = command -v $(valgrind) >/dev/null || \
	{ echo "valgrind is missing: BACKEND=cpu counts with it (Debian, Ubuntu: apt install valgrind)" >&2; exit 2; }

$R/gate.callgrind: build/ns-calib.sum $(call recall,$R/gate.callgrind,$(cache_args))
	$(valgrind_there)
	rm -f $@.tmp
	$(call stage,gate) $(callgrind) build/ns-calib gate --last-level-bytes $(platform_last_level_bytes) >$R/gate.expected.tsv.tmp
	mv $R/gate.expected.tsv.tmp $R/gate.expected.tsv
	mv $@.tmp $@
	$(call record,$(cache_args))

$R/worker.callgrind: $(watched_sum) $(call recall,$R/worker.callgrind,$(counted_args)) | $(watched_after)
	$(valgrind_there)
	rm -f $@.tmp
	$(call stage,counters) $(callgrind) $(worker) -g $(counted_steps) -w 0 -r 1 \
		--profile >/dev/null
	mv $@.tmp $@
	$(call record,$(counted_args))
endif

$R/gate.counters.tsv $R/counters.tsv: build/cg2tsv
$R/gate.counters.tsv: $R/gate.callgrind
	build/cg2tsv $< $(into)
$R/counters.tsv: $R/worker.callgrind
	build/cg2tsv $< $(into)
