# What every makefile here starts with: strict shell, no built-in rules, and
# the arithmetic of remembered values that mk/record.mk explains.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables --warn-undefined-variables
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export LC_ALL := C
.DELETE_ON_ERROR:
.SUFFIXES:

# V=1 shows commands; otherwise each rule says one line.
V :=
quiet = $(if $V,,@printf '  %-7s %s\n' $1 $2;)

# A path with a space cannot be a target; say so instead of half working.
ifneq ($(words $(CURDIR)),1)
$(error the folder '$(CURDIR)' has a space in its name: make cannot work there; move or rename it)
endif

# GNU make 4.3 does not always drop the last newline of $(file <...).
same = $(call same_,$(strip $1),$(strip $2))
same_ = $(and $(findstring ^$1^,^$2^),$(findstring ^$2^,^$1^))
changed/%: ;

define newline


endef

# A list of words with commas between them.
empty :=
comma := ,
list   = $(subst $(empty) ,$(comma),$(strip $1))

# Land standard output whole or not at all.
into = >$@.tmp && mv $@.tmp $@
