#!/bin/sh
# tools/cuda/wide-plan.h: a matrix that some rows of x go through, dealt to blocks.
. "${0%/*}/tap.sh"

c_program wide-plan -Itools/cuda tests/wide-plan.c tools/cuda/wide-plan.c

# best ROWS COLS X SPANS BLOCKS: of so many spans, the fewest with which the block that has
# most has least: slabs of its units of 16 rows, and for every pass of at most 18 of them as
# many of 16 rows of x; half a slab for each 16 x 16 sums; six for each span.
best() {
	awk -v rows="$1" -v cols="$2" -v x="$3" -v spans="$4" -v blocks="$5" '
	function up(a, b) { return int((a + b - 1) / b) }
	BEGIN {
		units = up(rows, 16); slabs = up(cols, 64)
		for (n = 1; n <= spans && n <= slabs && n <= blocks; n++) {
			tiles = int(blocks / n); if (tiles > units) tiles = units
			own = up(units, tiles); passes = up(own, 18)
			cost = up(slabs, n) * (own + passes * x / 16) + int(own * x / 32) + 6 * n
			if (n == 1 || cost < least) {
				least = cost
				deal = tiles " " n " " passes " " int(int(units / tiles) / passes) " " up(own, passes)
			}
		}
		print deal
	}'
}
# dealt NAME DEAL ROWS COLS X SPANS BLOCKS: rightly, and as would be best.
dealt() {
	name=$1 deal=$2
	shift 2
	is "$name" "$deal, $deal" "echo \$(./wide-plan $*), \$(best $*)"
}
# Qwen2.5-7B on 132: 288 units of q, k and v, 224 of o and down, 2368 of gate and up, 9504.
for x in 16 32 64; do
	dealt "q, k and v, $x rows of x"  '33 4 1 8 9'    4608 3584 $x 8 132
	dealt "o, $x"                     '33 4 1 6 7'    3584 3584 $x 8 132
	dealt "down, $x"                  '16 8 1 14 14'  3584 18944 $x 8 132
	dealt "gate and up, $x"           '132 1 1 17 18' 37888 3584 $x 1 132
	dealt "the vocabulary, $x"        '132 1 4 18 18' 152064 3584 $x 1 132
done
dealt 'the vocabulary on 78'          '78 1 7 17 18'  152064 3584 64 1 78
dealt 'one row and column'            '1 1 1 1 1'     1 1 16 8 132
dealt 'one row: another sum, or less' '1 6 1 1 1'     1 8192 16 8 132
dealt 'one column'                    '132 1 1 2 3'   5000 1 64 8 132
dealt 'one slab, fewer units than blocks' '128 1 1 1 1' 2048 64 16 8 132
dealt 'few units, few spans'          '7 2 1 1 1'     100 640 16 3 132
dealt 'no more spans than blocks'     '1 2 1 7 7'     100 640 16 2 2
dealt 'blocks that are left over'     '1 6 1 3 3'     48 4096 32 8 7
dealt 'one block has it all'          '1 1 35 17 18'  9999 1000 64 8 1
dealt 'as much as a pass can have'    '1 1 1 18 18'   288 64 16 8 1
dealt 'a unit more'                   '1 1 2 9 10'    304 64 16 8 1
dealt 'the same of two blocks'        '2 1 2 9 10'    577 128 64 8 2
dealt 'primes'                        '13 1 3 12 13'  7919 1009 16 8 13
dealt 'larger primes'                 '32 4 1 15 16'  7919 10007 32 8 131
# same "ROWS..." "COLS..." "X..." "SPANS..." "BLOCKS...": those that are not as would be best.
same() {
	for rows in $1; do for cols in $2; do for x in $3; do for spans in $4; do for blocks in $5; do
		[ "$(./wide-plan "$rows" "$cols" "$x" "$spans" "$blocks")" = "$(best "$rows" "$cols" "$x" "$spans" "$blocks")" ] ||
		    echo "$rows" "$cols" "$x" "$spans" "$blocks"
	done; done; done; done; done
}
is 'small ones, all of them' '' 'same "1 16 17 300 1213" "8 64 72 1000" 32 "1 2 8" "1 2 3 5 7 11 13"'
is 'widths of smaller models, near ties' '' 'same "1024 2048 2560" "896 1024 3072 3584 8192 11008" "16 32 64" 8 132'
done_testing
