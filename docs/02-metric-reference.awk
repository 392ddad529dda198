# docs/02-metric-reference.md out of configs/platforms/*/{metrics,samples,detail,plan}.tsv.
# A row that several platforms have alike stands once.

BEGIN {
	FS = "\t"
	n_rungs = split("registers shared l1 xbar l2 memory NA", rungs, " ")
	title["registers"] = "Registers"
	title["shared"] = "Shared memory"
	title["l1"] = "L1"
	title["xbar"] = "SM-L2 crossbar"
	title["l2"] = "L2"
	title["memory"] = "Memory"
	title["NA"] = "Work and time"
	print "# Metric reference\n"
	print "Made by `make docs` from `configs/platforms/*/`; do not edit. A row says that *metric* x *factor* is so many bytes (requests, hits, ...)"
	print "at a rung. Values are summed; witnesses measure the same otherwise; sentinels must be 0. docs/05-formats.md has the grammar, ns-rollup(1)"
	print "the arithmetic, and each platform.yaml the facts and their sources. Tier 1: totals of a phase; tier 2: kernel by kernel."
}

FNR == 1 {
	delete at
	for (i = 1; i <= NF; i++)
		at[$i] = i
	n = split(FILENAME, part, "/")
	platform = part[n - 1]
	file = part[n]
	next
}

file == "plan.tsv" {
	chip = $at["chip"]
	if (!(chip in chip_of)) {
		chips[++n_chips] = chip
		chip_of[chip] = platform
	}
	n_metrics[chip]++
	if ($at["pass"] == 1)
		n_first[chip]++
	n_passes[chip] = $at["pass"] + $at["n_passes"] - 1
	next
}

file == "detail.tsv" {
	key = $at["item"] " | `" $at["metric"] "` | " $at["factor"] " | " $at["note"] " | "
	if (!(key in told))
		fact[++n_facts] = key
	told[key] = told[key] (key in told && told[key] != "" ? " " : "") platform
	next
}

{
	key = ""
	sampled = file == "samples.tsv"
	n = split(sampled ? "quantity direction metric factor role set note" : \
	    "quantity direction metric factor role tier note", name, " ")
	for (i = 1; i <= n; i++)
		key = key (name[i] == "metric" ? "`" $at["metric"] "`" : $at[name[i]]) " | "
	rung = $at["rung"]
	if (!((sampled, rung, key) in seen)) {
		seen[sampled, rung, key] = platform
		row[sampled, rung, ++n_rows[sampled, rung]] = key
	} else
		seen[sampled, rung, key] = seen[sampled, rung, key] " " platform
}

function tables(sampled,	r, i, k) {
	for (r = 1; r <= n_rungs; r++) {
		if (n_rows[sampled, rungs[r]] == 0)
			continue
		print "\n### " title[rungs[r]] (sampled ? ", sampled" : "") "\n"
		print "| quantity | direction | metric | factor | role | " (sampled ? "set" : "tier") " | note | platforms |"
		print "|---|---|---|---|---|---|---|---|"
		for (i = 1; i <= n_rows[sampled, rungs[r]]; i++) {
			k = row[sampled, rungs[r], i]
			print "| " k seen[sampled, rungs[r], k] " |"
		}
	}
}

END {
	print "\n## Counted"
	tables(0)
	print "\n## Sampled while the program runs\n"
	print "Each set fits one pass of its chip, so that nothing is repeated."
	tables(1)
	print "\n## Told of a single launch\n"
	print "What ns-detail says beside bytes and hits. Of a stall the note says what a warp then waits for. `launch__*` come with ncu's sections.\n"
	print "| item | metric | factor | note | platforms |"
	print "|---|---|---|---|---|"
	for (i = 1; i <= n_facts; i++)
		print "| " fact[i] told[fact[i]] " |"
	print "\n## Passes\n"
	print "As recorded in plan.tsv. All metrics of tier 1; the first pass holds memory's bytes, the sentinels and the time.\n"
	print "| chip | platform | metrics | in the first pass | passes |"
	print "|---|---|---|---|---|"
	for (i = 1; i <= n_chips; i++)
		print "| " chips[i] " | " chip_of[chips[i]] " | " n_metrics[chips[i]] " | " n_first[chips[i]] " | " n_passes[chips[i]] " |"
}
