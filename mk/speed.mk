# What a run measures while nothing watches: ceilings, sweep, and the program itself
# between two canaries; the gate has passed by then.
#
# Before the include: device; gated, the gate's capture; unwatched, the capture that
# the program leaves when it runs alone, and unwatched_run, which leaves it in $@.tmp,
# as it does the files unwatched_beside; unwatched_args, names of the values that it
# depends on; watched_sum and watched_after, other prerequisites.

speed := $(addprefix $R/,ceilings.kv sweep.tsv) $(unwatched) \
	$(addprefix $R/,$(unwatched_beside) canary-before.kv canary-after.kv)

ifneq ($(capturing),)
$R/ceilings.kv: build/ns-calib.sum | $R/gate.tsv
	$(call stage,ceilings) build/ns-calib -d $(device) ceilings --seconds $(profile_ceilings_seconds) $(into)
$R/sweep.tsv: build/ns-calib.sum | $R/gate.tsv
	$(call stage,sweep) build/ns-calib -d $(device) sweep --seconds $(profile_sweep_seconds) $(into)

canary = build/ns-calib -d $(device) canary --seconds $(profile_canary_seconds)
$(unwatched): $(watched_sum) $(call recall,$(unwatched),$(unwatched_args)) | $(watched_after)
	$(canary) >$R/canary-before.kv.tmp
	$(call stage,baseline) $(unwatched_run)
	$(canary) >$R/canary-after.kv.tmp
	for f in canary-before.kv canary-after.kv $(unwatched_beside); do mv $R/$$f.tmp $R/$$f; done
	mv $@.tmp $@
	$(call record,$(unwatched_args))

# Made beside another capture: there, or that capture has to be made again.
beside = $R/gate.expected.tsv:$(gated) \
	$(foreach f,$(unwatched_beside) canary-before.kv canary-after.kv,$R/$f:$(unwatched))
$(foreach b,$(beside),$(eval $(firstword $(subst :, ,$b)): | $(lastword $(subst :, ,$b)); \
	[ -e $$@ ] || { echo "$$@ is gone: rm $$(firstword $$|) and run again" >&2; exit 2; }))
endif
