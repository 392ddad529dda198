# make kit: what a run needs, in one file, for machines that have the driver, its
# profilers and make, but no compiler, no libraries and no network.  What is not
# glibc's own is linked into the tools; mk/unpacked.mk is how they are used there.

kit_libraries := -s -Wl,--as-needed,-Bstatic $(libraries) -lgomp -Wl,-Bdynamic -ldl -lm
$(foreach t,$(tools),$(eval $(call link,build/kit,$t,$(kit_libraries))))

# What the tools ask of a machine.
build/kit/kit.kv: $(tools:%=build/kit/%)
	@{ echo "kit_machine=$$(uname -m)"; \
	   echo "kit_glibc=$$(readelf -V $^ | grep -o 'GLIBC_[0-9.]*' | sort -uV | sed -n '$$s/GLIBC_//p')"; \
	   echo "kit_cuda_archs=$(or $(call list,$(cuda_archs)),NA)"; } $(into)

kit_name = nsbench-kit-$(shell sed -n 's/^#define NS_VERSION "\(.*\)"/\1/p' tools/lib/version.h)-$(shell uname -m)
kit_files = Makefile README.md mk configs setup/allow-counters.sh setup/verify-gb10.sh \
	$(wildcard docs/*.md) docs/man docs/examples/README.md $(wildcard docs/examples/*/report.md docs/examples/*/figures)

# The same bytes of the same tree, whoever packs it and when.
.PHONY: kit
kit: build/kit/kit.kv
	@tar -c --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		--mtime=@$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800) \
		--transform='s,^build/kit/,build/,;s,^,$(kit_name)/,' \
		$(kit_files) $(tools:%=build/kit/%) $< | xz -6 -T1 >build/$(kit_name).tar.xz.tmp
	@mv build/$(kit_name).tar.xz.tmp build/$(kit_name).tar.xz
	@echo build/$(kit_name).tar.xz
