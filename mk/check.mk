# Tests speak TAP, prove reads them; none needs a GPU or the network.
.PHONY: test accept sanitize lint memcheck
test: all
	prove -j 2 tests/*.t

# The present outputs become the expected ones; read git diff after.
accept: all
	NS_ACCEPT=1 prove tests/*.t

# The tests again, with every tool built to stop at its first bad access.
sanitize:
	rm -rf build-sanitize && mkdir build-sanitize
	git ls-files -z Makefile mk tools | tar -c --null -T - | tar -x -C build-sanitize
	$(MAKE) -s -C build-sanitize -j2 NVCC= WERROR=-Werror OPTIMIZE='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all'
	NS_BUILD=$(CURDIR)/build-sanitize/build prove -j 2 $(filter-out $(unsanitized),$(wildcard tests/*.t))
# Those that build with flags of their own, or run a tool under valgrind.
unsanitized := $(addprefix tests/,command.t cuda.t kit.t make.t stamps.t)

sources = $(wildcard tools/*.c) $(filter-out $(if $(NVCC),,tools/cuda/%),$(wildcard tools/*/*.c))
lint:
	shellcheck -x -P tests setup/*.sh mk/*.sh tests/*.t tests/tap.sh tests/alone.sh tests/h200.sh .ci/run
	cppcheck -q --error-exitcode=1 --enable=warning,portability --inline-suppr --std=c11 \
		--suppress=missingIncludeSystem -D_GNU_SOURCE '-D_Noreturn=__attribute__((noreturn))' -Itools -Itools/lib $(sources)
	mandoc -T lint -W warning docs/man/*.1
	clang -fsyntax-only $(CPPFLAGS) $(if $(NVCC),-isystem $(cuda_home)/include) -std=gnu11 -fopenmp $(WARNINGS) -Werror $(sources)

# The filters' tests under valgrind's memcheck.  Not the programs that it cannot
# watch twice (they ask for callgrind) or that would take hours.
filters := $(filter-out ns-calib ns-worker ns-synth ns-probe,$(tools))
memcheck: all
	rm -rf build/memcheck && mkdir build/memcheck
	for t in $(tools); do ln -s ../$$t build/memcheck/$$t; done
	for t in $(filters); do rm build/memcheck/$$t; printf '%s\n' '#!/bin/sh' \
		'exec valgrind -q --error-exitcode=99 --leak-check=no $(CURDIR)/build/'$$t' "$$@"' >build/memcheck/$$t; \
		chmod +x build/memcheck/$$t; done
	NS_BUILD=$(CURDIR)/build/memcheck prove -j 2 $(filters:%=tests/%.t)
