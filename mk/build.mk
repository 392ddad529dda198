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
libraries := -lyaml -ljansson -lcsv -lsqlite3
LDLIBS   := -Wl,--as-needed $(libraries) -lopenblas -ldl -lm
PREFIX   := /usr/local
DESTDIR  :=

# CUDA, where nvcc is: NVCC= does without.  Code for a chip runs on later ones
# of its generation (8.0: 8.6, 8.9; 12.0: 12.1); PTX of the last serves newer.
NVCC       := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_ARCHS := 80 90 100 120
NVCCFLAGS  := -O3 -std=c++17
# wgmma is of 9.0a alone: code for that chip and none else.
chips = $(if $(filter %/wide.cu.o,$@),$(CUDA_ARCHS:90=90a),$(CUDA_ARCHS))
ifneq ($(NVCC),)
# Its home, as it says itself: what PATH finds may be a script that calls it, and the
# same compiler by another name is no reason to compile again.
cuda_home := $(or $(patsubst %/bin,%,$(realpath $(shell $(NVCC) --dryrun -x cu /dev/null 2>&1 | sed -n 's/^.* _HERE_=//p'))),\
	$(patsubst %/bin/nvcc,%,$(realpath $(NVCC))))
CPPFLAGS += -DNS_CUDA
nvcompile = $(or $(wildcard $(cuda_home)/bin/nvcc),$(NVCC)) -objtemp -Itools/lib $(NVCCFLAGS) -Xcompiler -fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-ffile-prefix-map=$(CURDIR)=. \
	$(foreach a,$(chips),-gencode arch=compute_$a,code=sm_$a) \
	-gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS))
cuda_libs := $(firstword $(wildcard $(cuda_home)/lib64/libcudart_static.a \
	$(cuda_home)/lib/libcudart_static.a) -lcudart_static) -lrt -lpthread
cuda_archs := $(CUDA_ARCHS)
cuda_archive := build/libcuda.a
cuda := $(patsubst tools/%,build/%.o,$(wildcard tools/cuda/*.c tools/cuda/*.cu))
else
nvcompile :=
cuda_libs :=
cuda_archs :=
cuda_archive :=
cuda :=
endif

compile := $(CC) $(CPPFLAGS) $(CFLAGS)

lib := $(patsubst tools/%.c,build/%.o,$(wildcard tools/lib/*.c))

# The files of a tool: its own, and those of tools/NAME/ where there are any
# (less its 2tsv too: build/x2tsv is the program, so build/x2tsv/ cannot be).
topic = $(patsubst %2tsv,%,$(1:ns-%=%))
parts = $(patsubst tools/%.c,build/%.o,$(wildcard tools/$(call topic,$1)/*.c))

# $(call link,FOLDER,TOOL,LIBRARIES)
define link
$1/$2: build/$2.o $(call parts,$2) $(if $(filter $2,$(cuda_tools)),$(cuda_archive)) build/libns.a
	@mkdir -p $$(@D)
	$$(call quiet,LINK,$$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $$@ $$^ $(if $(filter $2,$(cuda_tools)),$(cuda_libs)) $3
endef
cuda_tools := ns-calib ns-worker
$(foreach t,$(tools),$(eval $(call link,build,$t,$(LDLIBS))))

# Objects of tools/cuda keep their suffix in their names: rows.cu.o, load.c.o.
build/libcuda.a: $(cuda)
	$(call quiet,AR,$@)rm -f $@ && ar rcsD $@ $^

# The toolkit's own files are no prerequisites: nvcc would name its headers.
build/cuda/%.cu.o: tools/cuda/%.cu build/nvflags
	@mkdir -p $(@D)
	$(call quiet,NVCC,$@)$(nvcompile) -c -o $@ $<
	@$(CC) -x c++ -std=c++17 -Itools/lib -isystem $(cuda_home)/include -MM -MP -MT $@ -MF build/cuda/$*.cu.d $<

build/cuda/%.c.o: tools/cuda/%.c build/flags build/deps
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(compile) -isystem $(cuda_home)/include -MMD -MP -c -o $@ $<

build/libns.a: $(lib)
	$(call quiet,AR,$@)rm -f $@ && ar rcsD $@ $^

build/%.o: tools/%.c build/flags build/deps
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(compile) -MMD -MP -c -o $@ $<

# Newer only when the compile command is another.
# (A copy of the tree elsewhere is not another command.)
here    = $(subst $(CURDIR),.,$1)
flags   := $(call here,$(compile) $(LDFLAGS) $(LDLIBS))
nvflags := $(call here,$(nvcompile))
build/flags: $(if $(call same,$(flags),$(file <build/flags)),,changed/flags)
	@mkdir -p $(@D)
	@echo '$(flags)' >$@
build/nvflags: $(if $(call same,$(nvflags),$(file <build/nvflags)),,changed/nvflags)
	@mkdir -p $(@D)
	@echo '$(nvflags)' >$@

# The libraries are there, or one line says what to do.
headers := yaml.h jansson.h csv.h sqlite3.h cblas.h valgrind/callgrind.h
build/deps:
	@mkdir -p $(@D)
	@command -v $(CC) >/dev/null || { echo "$(CC) is missing: run ./setup/install.sh" >&2; exit 2; }
	@for h in $(headers); do echo "#include <$$h>" | $(compile) -E - >/dev/null 2>&1 \
		|| { echo "$$h is missing: run ./setup/install.sh" >&2; exit 2; }; done
	@touch $@

-include $(wildcard build/*.d build/*/*.d)

.PHONY: install clean
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(tools:%=build/%) $(DESTDIR)$(PREFIX)/bin
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1

clean:
	rm -rf build
