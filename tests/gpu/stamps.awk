# stamps.awk: where a decode step's time goes, out of ns-worker --stamps.
#
#	awk -f stamps.awk stamps.tsv
#
# A row a kind of op, each value the median over layers, first (of what blocks
# differ in) the median over blocks:
#	hop_ns		last block left the op before -> x is there
#	hop_last_ns	the same, to the last block's x
#	weights_ns	-> the first stage is read from (of attention: newest heads, too)
#	multiply_ns	-> the last product is done
#	scale_ns	-> the rows' scale is known (before: negative)
#	add_ns		last product -> the last result is left
#	skew_ns		first block has left -> the last has
#	op_ns		last block left the op before -> left this: a layer's sum is its time
#	clock_ns	by which the clock goes on
BEGIN { FS = OFS = "\t"; n_ops = split("hop_ns hop_last_ns weights_ns multiply_ns scale_ns add_ns skew_ns op_ns", name, " ") }
NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
{
	op = $col["op"] + 0; block = $col["block"] + 0; t = $col["time_ns"] + 0
	at[$col["event"], op, block] = t
	kind[op] = $col["kind"]
	ops = op > ops ? op : ops; blocks = block > blocks ? block : blocks
	for (a = t; a != 0; a = b) { b = step % a; step = a }	# the greatest common divisor
}
function put(list, v,    i) {		# in its place; list[0]: how many
	for (i = ++list[0]; i > 1 && list[i - 1] > v; i--)
		list[i] = list[i - 1]
	list[i] = v
}
function median(list) { return list[0] ? list[int((list[0] + 1) / 2)] : "NA" }
function of(event, op, list,    b) {	# all blocks' times
	split("", list)
	for (b = 0; b <= blocks; b++)
		if ((event, op, b) in at)
			put(list, at[event, op, b])
}
function apart(from, to, op,    list, b) {	# the median block's
	for (b = 0; b <= blocks; b++)
		if ((from, op, b) in at && (to, op, b) in at)
			put(list, at[to, op, b] - at[from, op, b])
	return median(list)
}
function add(op, column, v) {
	if (v != "NA")
		seen[kind[op], column, ++seen[kind[op], column]] = v
}
function measure(op,    x, left, before) {
	of("left", op, left)
	of("arrived", op, x)
	if (op > 0) {
		of("left", op - 1, before)
		add(op, "hop_ns", median(x) - before[before[0]])
		add(op, "hop_last_ns", x[x[0]] - before[before[0]])
		add(op, "op_ns", left[left[0]] - before[before[0]])
	}
	add(op, "weights_ns", apart("arrived", "weights", op))
	add(op, "multiply_ns", apart("weights", "multiplied", op))
	add(op, "scale_ns", apart("multiplied", "scaled", op))
	add(op, "add_ns", apart("multiplied", "left", op))
	add(op, "skew_ns", left[left[0]] - left[1])
}
function row(k,    i, j, list, line) {
	line = k
	for (i = 1; i <= n_ops; i++) {
		split("", list)
		for (j = 1; j <= seen[k, name[i]]; j++)
			put(list, seen[k, name[i], j])
		line = line OFS median(list)
	}
	print line, step
}
END {
	printf "kind"
	for (i = 1; i <= n_ops; i++)
		printf "\t%s", name[i]
	print "\tclock_ns"
	for (op = 0; op <= ops; op++)
		measure(op)
	for (op = 0; op < 5 && op < ops; op++)
		row(kind[op])
	row(kind[ops])
}
