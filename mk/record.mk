# What a target was made from, remembered.
#
# TARGET.args holds the values a target was made with, one name=value a line,
# written last.  A value that differs from the one in force puts the target out
# of date, whatever the clock says; touching a config that still says the same
# does not.
#
#	$(call recall,TARGET,NAMES)	prerequisites: changed/NAME for each
#					value that differs from the recorded one
#	$(call record,NAMES)		last line of the recipe
#
# Values are single words free of % $ # and quotes (docs/05-formats.md).

recall = $(foreach n,$2,$(if $(filter $n=$($n),$(file <$1.args)),,changed/$n))
record = @printf '%s\n' $(foreach n,$1,$n=$($n)) >$@.args.tmp && mv $@.args.tmp $@.args

# A program's fingerprint: newer only when its bytes are others.  The + runs
# it under make -n too, so that a dry run tells the truth.
build/%.sum: build/%
	+@sum=$$(sha256sum <$<); [ "$$sum" = "$$(cat $@ 2>/dev/null)" ] || echo "$$sum" >$@
