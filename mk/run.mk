# One run: a checkpoint, a workload, a machine; everything lands in $R.
#
#	make -f mk/run.mk MODEL=tiny		capture what is missing or outdated, then report
#	make -f mk/run.mk MODEL=tiny report	analyse what was captured; never starts a profiler
#	make -f mk/run.mk MODEL=tiny why	what a run would capture again, and because of what
#	make -f mk/run.mk MODEL=tiny clean-analysis	drop what can be made again without capturing
#
#	WORKLOAD=default  PROFILE=default  BACKEND=cpu  TAG=  names under configs/, and the run's own
#	CMD='any command'  measured as it is: mk/backend-command.mk
#	TIMELINE=x.sqlite  COUNTERS=y.csv  BASELINE=z.json  captures made elsewhere: mk/backend-adopted.mk
#	CHECKPOINT=DIR  a Hugging Face directory; else the hub's cache is searched for the
#	                model's hf_repo, else random weights of the model's shape are made
#
# Captures cost minutes to hours, so they depend on values: their recorded
# args, and the fingerprint of the program that was watched.  Analysis costs
# nothing, so it depends on files, the ordinary way.

.DEFAULT_GOAL := run
include Makefile
ifeq ($V,)
.SILENT:
endif
include mk/record.mk

MODEL      := tiny
WORKLOAD   := default
PROFILE    := default
CMD        :=
# What is there to measure; elsewhere, what was measured.
BACKEND    := $(or $(if $(value CMD),command),$(if $(or $(value TIMELINE),$(value COUNTERS),$(value BASELINE)),adopted),\
	$(if $(and $(cuda_archs),$(wildcard /dev/nvidia0 /dev/nvidiactl)),cuda),cpu)
TAG        :=
CHECKPOINT :=

R := runs/$(MODEL).$(WORKLOAD).$(BACKEND)$(TAG:%=.%)
this_run := make -f mk/run.mk MODEL=$(MODEL) WORKLOAD=$(WORKLOAD) BACKEND=$(BACKEND)$(TAG:%= TAG=%)

goals := $(or $(MAKECMDGOALS),run)
capturing := $(filter run why,$(goals))

odd := ' " ` ; & | < > ( ) * ? [ ] { } \ $$
$(foreach n,MODEL WORKLOAD PROFILE BACKEND TAG CHECKPOINT TIMELINE COUNTERS BASELINE CAPTURE_RANGE,$(if $(word 2,$(value $n)),\
	$(error $n='$(value $n)' has a space in it: make cannot carry it; rename it or link to it))$(foreach c,$(odd),\
	$(if $(findstring $c,$(value $n)),$(error $n='$(value $n)' has a $c in it: a shell would read it; rename it or link to it))))
$(if $(wildcard mk/backend-$(BACKEND).mk),,$(error BACKEND=$(BACKEND): there is \
	$(patsubst mk/backend-%.mk,%,$(wildcard mk/backend-*.mk))))

# ---- settings: configs/KIND/NAME.yaml as variables KIND_NAME

config = build/configs/$1.kv
shape    := configs/models/$(MODEL).yaml
settings := $(call config,workloads/$(WORKLOAD)) $(call config,profiles/$(PROFILE)) \
	$(patsubst %.yaml,build/%.kv,$(if $(filter adopted command,$(BACKEND))$(CHECKPOINT),$(wildcard $(shape)),$(shape)))
$(foreach s,$(settings),$(if $(wildcard $(s:build/%.kv=%.yaml)),,$(error there is no \
	$(s:build/%.kv=%.yaml); there is $(notdir $(basename $(wildcard $(dir $(s:build/%=%))*.yaml))))))

$(settings): build/configs/%.kv: configs/%.yaml build/yaml2kv
	@mkdir -p $(@D)
	@build/yaml2kv -p $(patsubst %s,%,$(*D)) $< $(into)
include $(settings)

names = $(sort $(filter $1_%,$(.VARIABLES)))
model_args    := $(filter-out model_hf_repo,$(call names,model))
workload_args := $(call names,workload)

# ---- the checkpoint

hf_home := $(firstword $(wildcard $(or $(value HF_HOME),$(HOME)/.cache/huggingface)) none)
hub := $(dir $(firstword $(if $(value model_hf_repo),$(wildcard \
	$(hf_home)/hub/models--$(subst /,--,$(model_hf_repo))/snapshots/*/config.json))))
made := checkpoints/$(MODEL)
checkpoint := $(patsubst %/,%,$(or $(CHECKPOINT),$(hub),$(made)))
checkpoint_args = checkpoint_id $(if $(filter $(made),$(checkpoint)),$(model_args))

# What is in it, by its config and headers: moving or touching it changes nothing.
checkpoint_id = $(firstword $(shell cd $(checkpoint) 2>/dev/null && { cat config.json 2>/dev/null; \
	for f in *.safetensors; do [ ! -f "$$f" ] || { wc -c <"$$f"; head -c 65536 "$$f"; }; done; } | cksum) none)

ifeq ($(checkpoint),$(made))
$(made)/config.json: $(call recall,$(made),$(model_args)) | build/ns-synth build/yaml2kv
	@mkdir -p $(dir $(made)) && rm -rf $(made)
	build/yaml2kv configs/models/$(MODEL).yaml | mk/stage.sh synth $(made).stage build/ns-synth - $(made)
	@printf '%s\n' $(foreach n,$(model_args),$n=$($n)) >$(made).args
endif
checkpoint_there := $(if $(filter $(made),$(checkpoint)),$(made)/config.json,$(wildcard $(checkpoint)/config.json))
$(if $(CHECKPOINT),$(if $(wildcard $(CHECKPOINT)/.),,$(if $(capturing),$(error CHECKPOINT=$(CHECKPOINT): there is no such directory))))

include mk/backend-$(BACKEND).mk

# ---- captures: only when asked for by name, one at a time, whoever else runs make

ifneq ($(capturing),)
.NOTPARALLEL:
alone := flock -o runs/.lock
stage = $(alone) env STAGE_TIMEOUT=$(profile_stage_timeout_seconds) mk/stage.sh $1 $@.stage

$(captures): | $R
$R:
	mkdir -p $@

$R/probe.kv: build/ns-probe.sum
	build/ns-probe $(into)

$R/model.kv $R/tensors.tsv: $R/%: build/ns-discover $(call recall,$R/model.kv,checkpoint_id) | $(checkpoint_there)
	build/ns-discover $(basename $*) $(checkpoint) $(into)
	$(call record,checkpoint_id)
else
$(captures):
	$(error $@: not captured yet; '$(this_run)' captures it)
endif

# ---- analysis: one filter, one file

include mk/analysis.mk

.PHONY: run report compact trace why clean-analysis
run: report
	build/ns-report -f verdict $R
	! grep -q "$$(printf '\tfail\t')" $R/checks.tsv
report: $R/report.md $R/report.html $R/report.json
	echo $R/report.md
	echo $R/report.html
	[ -e $R/figures ] || echo "no gnuplot here, so no figures: where there is one, '$(this_run) report' draws them" >&2

compact: $R/compact.json
trace: $R/trace.json
compact trace:
	echo $<

# Captures alone, and of their reasons the values: what follows from them goes without saying.
why:
	$(MAKE) --no-print-directory -n --trace -f mk/run.mk run | \
		sed -n "s|.*target '\($R/.*\)' \(due to: .*\)|\1: \2|p; s|.*target '\($R/.*\)' \(does not exist\)|\1: \2|p" | \
		{ grep -F $(captures:%=-e '%: ') || true; }

clean-analysis:
	rm -rf $(filter-out $(captures),$(wildcard $(analysed))) $R/*.tmp
