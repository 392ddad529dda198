# A kit that was unpacked (mk/kit.mk): its tools are given, and nothing is compiled.

include build/kit.kv
cuda_archs := $(filter-out NA,$(kit_cuda_archs))

here := $(shell uname -m)
$(if $(filter $(kit_machine),$(here)),,$(error this kit is for $(kit_machine), this machine is $(here): \
	'make kit' on a machine of its kind makes one for it))
why_not := $(shell build/yaml2kv --version 2>&1 >/dev/null)
$(if $(why_not),$(error this kit's tools do not run here: they need glibc $(kit_glibc) or newer; 'make kit' on a system \
	as old as this one makes some that do ($(why_not))))
