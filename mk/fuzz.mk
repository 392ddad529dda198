# make fuzz: each tests/fuzz/TOOL.c for FUZZ_SECONDS under ASan and UBSan, from the
# hand-made files in tests/data/TOOL (less its 2tsv) and real ones where ../shared is.

FUZZ_SECONDS := 60
fuzzers := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
fuzz_flags := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

.PHONY: fuzz $(fuzzers:%=fuzz-%)
fuzz: $(fuzzers:%=fuzz-%)
$(fuzzers:%=fuzz-%): fuzz-%: build/fuzz/%
	tests/fuzz/run.sh $* $(FUZZ_SECONDS)

define fuzzer
build/fuzz/$1: tests/fuzz/$1.c tests/fuzz/fuzz.h tools/$1.c $(wildcard tools/$(call topic,$1)/*.c tools/lib/*.c)
	@mkdir -p $$(@D)
	$$(call quiet,FUZZ,$$@)clang $(CPPFLAGS) -std=gnu11 $(fuzz_flags) -o $$@ $$(filter-out tools/$1.c,$$(filter %.c,$$^)) $(LDLIBS)
endef
$(foreach f,$(fuzzers),$(eval $(call fuzzer,$f)))
