# Phases of any timeline: $R/phased.tsv, of $R/work.tsv and $R/ranges.tsv.
#
#	RANGES=REGEX  LAST_GRAPHS=N  WINDOW=START:END  what a phase is;
#		otherwise ranges named prefill and decode.N, else the last 20 CUDA graph
#		launches, else the whole capture
#
# What is asked for is remembered, a word a line, to be read and not run.

RANGES      :=
LAST_GRAPHS :=
WINDOW      :=

$(foreach n,RANGES LAST_GRAPHS WINDOW,$(if $(findstring ',$(value $n)),$(error $n has a quote in it: a regular expression can say . instead)))
windows := $(if $(RANGES),--ranges '$(value RANGES)') $(if $(LAST_GRAPHS),--last-graphs '$(value LAST_GRAPHS)') \
	$(if $(WINDOW),--window '$(value WINDOW)')
remembered := $(strip $(file <$R/windows))
$R/phased.tsv: $R/work.tsv $R/ranges.tsv build/ns-phases mk/phases.sh \
		$(if $(strip $(windows)),$(if $(call same,$(subst ',,$(windows)),$(remembered)),,changed/windows))
	mk/phases.sh $R/windows $R/ranges.tsv $< $(windows) $(into)
