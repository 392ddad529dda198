# Any command on an NVIDIA GPU, watched by Nsight Systems: one shell command line,
#
#	CMD='llama-bench -m x.gguf -p 512 -n 128 -o json'
#
# run alone between two canaries, then for the timeline, then once a set of counters.
# Phases are found in the timeline: mk/windows.mk.
#
#	CAPTURE_RANGE=cudaProfilerApi  record between cudaProfilerStart and Stop, or
#		within the NVTX range of this name; otherwise all of it
#	CHECKPOINT=DIR WORKLOAD=NAME  what the command runs: bytes that must move
#	NSYS_KEEP="NAME NAME"  what it needs of the environment (mk/narrow.sh)
#
# CMD reaches the shell by the environment and stands in no recipe.  What is remembered
# is its checksum and, for people, its text.

TIERS         := 0
CAPTURE_RANGE :=
override CMD  := $(value CMD)
export CMD
tiers         := $(TIERS)

$(if $(filter-out 0,$(tiers)),$(error TIERS=$(tiers): of a command there is tier 0 alone))
$(foreach n,TIMELINE COUNTERS,$(if $(value $n),$(error $n= is a capture made elsewhere and CMD= makes one: which?)))
$(if $(value BASELINE),$(error BASELINE=: the speed of a command is what it prints when it runs alone: llama-bench -o json))
$(if $(findstring $(newline),$(CMD)),$(error CMD has more than one line: put it into a script))
$(foreach c,$(odd),$(if $(findstring $c,$(value NSYS_KEEP)),$(error NSYS_KEEP='$(value NSYS_KEEP)': names of variables were expected)))
$(if $(capturing),$(if $(strip $(CMD)),,$(error CMD= is empty: CMD='program argument ...' is what runs)))

include mk/gpu.mk

ifneq ($(capturing),)
# The text: its checksum, and itself as a word of kv, + for a space.  The program: the
# files that the first two words are, itself and perhaps a script.  The variables kept.
quoted  = '$(subst ','\'',$1)'
command := $(shell c=$(call quoted,$(CMD)); set -- $$(printf %s "$$c" | cksum); \
	echo "$$1:$$(printf %s "$$c" | tr -c 'A-Za-z0-9._/:,@+ -' _ | tr ' ' +)")
first_words := $(wordlist 1,2,$(foreach w,$(CMD),$(if $(findstring =,$w),,$w)))
program := $(firstword $(shell set -- $(foreach w,$(first_words),$(call quoted,$w)); \
	for f in "$$(command -v -- "$${1-}" || true)" "$${2-}"; do [ ! -f "$$f" ] || cksum <"$$f"; done | cksum))
kept    := $(call list,$(firstword $(shell for v in $(value NSYS_KEEP); do echo "$$v=$${!v-}"; done | cksum)) $(value NSYS_KEEP))
endif
capture_range := $(or $(CAPTURE_RANGE),none)
predicted     := $(if $(CHECKPOINT),yes,no)
command_args  := command program kept

# ---- alone

unwatched        := $R/command.txt
unwatched_args   := $(command_args) predicted $(if $(CHECKPOINT),$(workload_args))
of_model         := model.kv tensors.tsv workload.kv readset.tsv roofline.tsv
unwatched_beside := command.out command.log
unwatched_run     = sh -c 'exec mk/narrow.sh sh -c "$$CMD" >$R/command.out.tmp 2>$R/command.log.tmp' || { \
	tail -qn 5 $(unwatched_beside:%=$R/%.tmp) >&2; \
	echo "CMD failed; it saw of the environment what mk/narrow.sh passes on: NSYS_KEEP=\"NAME NAME\" for more" >&2; exit 2; }; \
	printf '%s\n' "$$CMD" >$@.tmp$(if $(CHECKPOINT),,; rm -f $(addprefix $R/,$(of_model)))
watched_sum      :=
watched_after    := $R/gate.tsv
include mk/speed.mk

# ---- watched

watched        = sh -c "$$CMD"
watched_args  := $(command_args) capture_range
watched_after += $(unwatched)
nsys_options   = $(CAPTURE_RANGE:%=-r %) -w /dev/null
set_options    = -w $R/windows
tier0_guard    = $(call guard,--need 0)
include mk/tier0.mk

# ---- what follows from it

model    := $(if $(capturing),$(CHECKPOINT),$(filter predicted=yes,$(file <$(unwatched).args)))
captures := $R/probe.kv $(if $(model),$R/model.kv $R/tensors.tsv) $(gate_captures) $(speed) $(tier0_captures)
gives    := gate ceilings command baseline $(if $(model),model) $(tier0_gives)
counted  := none

# A set is captured when it is known what a phase is.
ifneq ($(capturing),)
$(sets:%=$R/sampled-%.sqlite): | $R/phased.tsv
endif

# Times that it printed when it ran alone: llama-bench's, or a table as ns-worker prints it.
$R/baseline.tsv: $(unwatched) build/llb2tsv
	read -r head <$R/command.out || true; \
	case $$head in \
	repeat*phase*step*) cp $R/command.out $@.tmp ;; \
	*) build/llb2tsv $R/command.out >$@.tmp 2>/dev/null || { echo "no tokens a second: command.out is not of llama-bench -o json" >&2; \
		printf 'repeat\tphase\tstep\tn_tokens\tstart_ns\tdur_ns\tdev_ns\n' >$@.tmp; } ;; \
	esac
	mv $@.tmp $@
$R/command.kv: $(unwatched) $R/timeline.sqlite
	{ sed -n 's/^\(command=[A-Za-z0-9._/:,@+-]*\)$$/\1/p' $<.args; sed -n 's/^baseline\t/wall_ns=/p' $<.stage; \
	  sed -n 's/^\(capture_range=[A-Za-z0-9._/:,@+-]*\)$$/\1/p' $R/timeline.sqlite.args; } $(into)
