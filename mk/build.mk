# From tools/ to build/: tools/NAME.c is build/NAME, with tools/lib/ for all and
# tools/NAME/ (less its ns- or 2tsv) for one that has outgrown a file.

CC       := gcc
OPTIMIZE := -O2
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla
WERROR   :=
CPPFLAGS := -D_GNU_SOURCE -Itools/lib
CFLAGS   := -std=gnu11 $(OPTIMIZE) -g0 -fopenmp -ffp-contract=off \
	-ffile-prefix-map=$(CURDIR)=. $(WARNINGS) $(WERROR)
LDFLAGS  :=
LDLIBS   := -Wl,--as-needed -lyaml -ljansson -lcsv -lsqlite3 -lopenblas -ldl -lm
PREFIX   := /usr/local
DESTDIR  :=

compile := $(CC) $(CPPFLAGS) $(CFLAGS)

lib := $(patsubst tools/%.c,build/%.o,$(wildcard tools/lib/*.c))

# The files of a tool: its own, and those of tools/NAME/ where there are any
# (less its 2tsv too: build/x2tsv is the program, so build/x2tsv/ cannot be).
topic = $(patsubst %2tsv,%,$(1:ns-%=%))
parts = $(patsubst tools/%.c,build/%.o,$(wildcard tools/$(call topic,$1)/*.c))

define link
build/$1: build/$1.o $(call parts,$1) build/libns.a
	$$(call quiet,LINK,$$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $$@ $$^ $(LDLIBS)
endef
$(foreach t,$(tools),$(eval $(call link,$t)))

build/libns.a: $(lib)
	$(call quiet,AR,$@)rm -f $@ && ar rcsD $@ $^

build/%.o: tools/%.c build/flags build/deps
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(compile) -MMD -MP -c -o $@ $<

# Newer only when the compile command is another.
flags := $(compile) $(LDFLAGS) $(LDLIBS)
build/flags: $(if $(call same,$(flags),$(file <build/flags)),,changed/flags)
	@mkdir -p $(@D)
	@echo '$(flags)' >$@

# The libraries are there, or one line says what to do.
headers := yaml.h jansson.h csv.h sqlite3.h cblas.h valgrind/callgrind.h
build/deps:
	@mkdir -p $(@D)
	@command -v $(CC) >/dev/null || { echo "$(CC) is missing: run ./setup/install.sh" >&2; exit 2; }
	@for h in $(headers); do echo "#include <$$h>" | $(compile) -E - >/dev/null 2>&1 \
		|| { echo "$$h is missing: run ./setup/install.sh" >&2; exit 2; }; done
	@touch $@

# A program's fingerprint: newer only when its bytes are others.  The + runs
# it under make -n too, so that a dry run tells the truth.
build/%.sum: build/%
	+@sha256sum <$< | cmp -s - $@ || sha256sum <$< >$@

-include $(wildcard build/*.d build/*/*.d)

.PHONY: install clean
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(tools:%=build/%) $(DESTDIR)$(PREFIX)/bin
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1

clean:
	rm -rf build
