# What happens within a decode step that is one kernel, as its blocks note it: one
# run more of the worker, unwatched, after the baseline.  That says of which kind its
# steps are (worker.kv); where there are none, or of several kernels, there is nothing
# to note, and the table is empty.
#
# Before the include: worker.mk; guard and what it needs.  After it: stamps and
# stamps_gives.

stamps := $(if $(capturing),$R/stamps.tsv,$(wildcard $R/stamps.tsv))
stamps_gives := $(if $(stamps),stamps)

ifneq ($(capturing),)
$(stamps): $(watched_sum) $(call recall,$(stamps),$(watched_args)) | $(unwatched) $R/worker.kv
	rm -f $@.stage
	if [ $(workload_generate_tokens) -gt 0 ] && grep -qx step=persistent $R/worker.kv; then \
		$(call guard,--need $(taken)); \
		$(call stage,stamps) $(worker) --step persistent -g $(workload_generate_tokens) -w 0 -r 1 --stamps $@.tmp >/dev/null; \
	else \
		echo "stamps: no decode step is one kernel ($(workload_generate_tokens) steps, $$(cat $R/worker.kv)): nothing to look into" >&2; \
		printf 'block\top\tkind\tlayer\tevent\ttime_ns\n' >$@.tmp; \
	fi
	mv $@.tmp $@
	$(call record,$(watched_args))
endif
