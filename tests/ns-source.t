#!/bin/sh
. "${0%/*}/tap.sh"

# One kernel of 100 samples: 60 at an addition that waits for the load above it, 25 at a
# branch behind a barrier, 10 issued, 5 of which the page names nothing.
head='"Address","Source","Warp Stall Sampling (All Samples)","Instructions Executed","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal","stall_barrier","stall_long_sb","stall_selected","stall_long_sb (Not Issued)"'
load='"0x7f10","      LDG.E.64 R2, desc[UR4][R4.64]","0","1,024","0","0","4,096","2,048","0","0","0","0"'
sum='"0x7f20","@P0   FADD R6, R3, R6","60","1,024","0","0","0","0","0","60","0","50"'
bar='"0x7f30","      BAR.SYNC.DEFER_BLOCKING 0x0","10","1,024","0","0","0","0","0","0","10","0"'
bra='"0x7f40","@P1   BRA 0x7f10","25","1,024","","","0","0","25","0","0","0"'
hg='"0x7f50","      HGMMA.64x8x16 R24, gdesc[UR16]","5","1024.000000","300","200","-","","0","0","0","0"'
page() { printf '%s\n' '"Kernel Name","k",' "$head" "$load" "$sum" "$bar" "$bra" "$hg"; }
column() { awk -F '\t' -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } { print $c }' | paste -sd ' '; }
page >page.csv

is 'the hottest first'   'FADD BRA BAR.SYNC.DEFER_BLOCKING HGMMA.64x8x16 rest' \
	'ns-source page.csv | column instruction | sed "s/@P. *//g; s/ R6, R3, R6//; s/ 0x[0-9a-f]*//g; s/ R24, gdesc.UR16.//"'
is 'their shares'        '0.6 0.25 0.1 0.05 0' 'ns-source page.csv | column share_ratio'
is 'from stdin'          '' 'ns-source <page.csv >a; ns-source - <page.csv | diff - a; ns-source page.csv | diff - a'
is 'addresses count from the first' '0x0010 0x0030 0x0020 0x0040 NA' 'ns-source page.csv | column address'
is 'why each waits'      'long_scoreboard barrier none other NA' 'ns-source page.csv | column stall'
is 'and how much of it'  '1 1 0 1 NA' 'ns-source page.csv | column stall_ratio'
is 'for what'            'NA LDG.E.64 R2, desc[UR4][R4.64]' 'ns-source page.csv | column producer | cut -d " " -f 1-4 | sed "s/^\(LDG.*]\) .*/NA \1/"'
is 'where that stands'   '0x0000 NA NA NA NA' 'ns-source page.csv | column producer_address'
is 'only so many'        '1 2 NA' 'ns-source -k 2 page.csv | column place'
is 'the rest is of three' '1 1 3' 'ns-source -k 2 page.csv | column n_instructions'
is 'shares sum to one'   1 'ns-source -k 1 page.csv | awk -F "\t" "NR > 1 { s += \$14 } END { print s }"'
is 'none but the rest'   'rest 5 100 1' 'ns-source -k 0 page.csv | sed 1d | cut -f 11-14 | tr "\t" " "'
is 'thousands, and points' '1024 1024 1024 1024 1024' 'ns-source page.csv | column n_executed'
is 'sectors over ideal'  'NA NA NA NA 2' 'ns-source page.csv | column l2_over_ideal_ratio'
is 'wavefronts: empty is missing, not 0' '0 NA 0 300 0' 'ns-source page.csv | column n_wavefronts'
is 'wavefronts over ideal' 'NA NA NA 1.5 NA' 'ns-source page.csv | column shared_over_ideal_ratio'
is 'a row a kernel'      'phase rank kernel name grid block launch n_instructions n_samples n_executed l2_sectors l2_over_ideal_ratio n_wavefronts shared_over_ideal_ratio reading
decode NA k k NA NA 0 5 100 5120 4096 2 300 1.5' 'ns-source -p decode --kernels page.csv | sed "2s/\t[^\t]*$//" | tr "\t" " "'
is 'in words' '60 % of samples wait for 1 load of global memory, 25 % for the other warps of the block, at a barrier (at 1 instruction); its accesses of global memory touch 2.0 times the sectors they need; shared memory takes 1.5 times the wavefronts it needs (bank conflicts)' \
	'ns-source --kernels page.csv | column reading'

# ---- producers
words() {	# REASON SAMPLES INSTRUCTION...: a kernel of these; the one that ends in ! has the samples
	printf '"Kernel Name","k"\n"Address","Source","# Samples","stall_%s"\n' "$1"
	n=$2 a=4096
	shift 2
	for i; do
		case $i in *!) x=$n ;; *) x=0 ;; esac
		printf '"0x%x","%s","%s","%s"\n' "$a" "${i%!}" "$x" "$x"
		a=$((a + 16))
	done
}
waits() { words "$@" | ns-source -k 1 | sed 1d | head -1 | cut -f 17,18 | tr '\t' ' '; }
is 'the last load of a register'  '0x0010 LDG.E R3, [R4]' 'waits long_sb 9 "LDG.E R3, [R8]" "LDG.E R3, [R4]" "FADD R1, R3, R2!"'
is 'one of four that it fills'    '0x0000 LDG.E.128 R4, [R8]' 'waits long_sb 9 "LDG.E.128 R4, [R8]" "LDG.E R9, [R2]" "FADD R1, R7, R2!"'
is 'but not a fifth'              'NA NA' 'waits long_sb 9 "LDG.E.128 R4, [R8]" "FADD R1, R8, R2!"'
is 'half of a wide one'           '0x0000 LDG.E R5, [R8]' 'waits long_sb 9 "LDG.E R5, [R8]" "STG.E [R4.64], R2!"'
is 'a predicate'                  '0x0000 SYNCS.PHASECHK.TRYWAIT P2, [UR7], R4' 'waits long_sb 9 "SYNCS.PHASECHK.TRYWAIT P2, [UR7], R4" "BRA !P2, 0x40!"'
is 'behind a predicate'           '0x0000 SHFL.BFLY PT, R5, R4, 0x1, 0x1f' 'waits short_sb 9 "SHFL.BFLY PT, R5, R4, 0x1, 0x1f" "FADD R4, R4, R5!"'
is 'no store, no other register'  'NA NA' 'waits long_sb 9 "STG.E [R3.64], R3" "LDG.E R13, [R4]" "LDG.E UR3, [R4]" "FADD R1, R3, R2!"'
is 'written since: not that one'  'NA NA' 'waits long_sb 9 "LDG.E R3, [R4]" "MOV R3, R8" "FADD R1, R3, R2!"'
is 'of the other scoreboard: not that one' 'NA NA' 'waits short_sb 9 "LDG.E R3, [R4]" "FADD R1, R3, R2!"'
is 'of the iteration before'      '0x0010 LDG.E R3, [R4]' 'waits long_sb 9 "FADD R1, R3, R2!" "LDG.E R3, [R4]" "@P0 BRA 0x1000"'
is 'after it, but no loop'        'NA NA' 'waits long_sb 9 "FADD R1, R3, R2!" "LDG.E R3, [R4]" "@P0 BRA 0x1020"'
is 'a barrier has none'           'NA NA' 'waits barrier 9 "LDG.E R3, [R4]" "FADD R1, R3, R2!"'
is 'few samples'                  '9 samples: too few to say where it waits' 'words wait 9 "FADD R1, R3, R2!" | ns-source --kernels | column reading'
is 'one is one'                   '1 sample: too few to say where it waits' 'words wait 1 "FADD R1, R3, R2!" | ns-source --kernels | column reading'
is 'none'                         'no sample: it ends before the first is taken' 'words wait 0 "FADD R1, R3, R2!" | ns-source --kernels | column reading'
is 'no samples have no shares'    'NA' 'words wait 0 "FADD R1, R3, R2!" | ns-source | column share_ratio'
is 'all were issued'              'no sample waits' 'words selected 99 "FADD R1, R3, R2!" | ns-source --kernels | column reading'

# ---- several kernels, and the launches of a raw page
raw() {		# KERNEL GRID SHARED ...
	echo '"ID","Process ID","Kernel Name","Block Size","Grid Size","launch__shared_mem_per_block_static","launch__shared_mem_per_block_dynamic"'
	echo '"","","","","","byte/block","byte/block"'
	id=0
	while [ $# -gt 0 ]; do
		printf '"%s","77","%s","(32, 1, 1)","(%s, 1, 1)","%s","1,024.00"\n' $id "$1" "$2" "$3"
		id=$((id + 1)); shift 3
	done
}
block() { printf '"Kernel Name","%s",\n"Address","Source","# Samples","stall_wait"\n"0x10","NOP","%s","%s"\n' "$1" "$2" "$2"; }
told() { ns-source -k 0 "$@" | sed 1d | cut -f 3,5,7,13 | tr '\t' ' '; }
is 'twice as the one before: once' 'a NA 0 1
b NA 1 2
a NA 2 1' '{ block a 1; block a 1; block b 2; block a 1; } | told'
is 'launch by launch' 'a 4x1x1 77.0 1
b 5x1x1 77.1 2
a 6x1x1 77.2 1' '{ raw a 4 0 b 5 0 a 6 0; block a 1; block a 1; block b 2; block a 1; } | told'
is 'two launches that are alike'  'a 4x1x1 77.0 1
a 6x1x1 77.1 1' '{ raw a 4 0 a 6 0; block a 1; block a 1; } | told'
is 'each of two twice' 'a 4x1x1 77.0 1
a 6x1x1 77.1 3' '{ raw a 4 0 a 6 0; block a 1; block a 1; block a 3; block a 3; } | told'
{ raw a 4 0 b 5 0 a 6 8; block a 1; block a 1; block b 2; block a 1; } >three.csv
exits 2 'too many, which differ' '{ raw a 4 0; block a 1; block a 2; } | ns-source' 'stdin:5: 2 times the source of a for 1 launches'
exits 2 'another order'          '{ raw a 4 0 b 5 0; block b 1; block a 2; } | ns-source' 'goes on with b, the raw page with a'
exits 2 'a launch more'          '{ raw a 4 0 b 5 0; block a 1; } | ns-source' 'ends before launch 77.1 of b'
exits 2 'a launch less'          '{ raw a 4 0; block a 1; block b 1; } | ns-source' 'goes on with b, the raw page with nothing'
exits 2 'two reports'            'cat three.csv three.csv | ns-source' 'a second report'
exits 2 'shared memory in another unit' 'sed "s/byte.block/Kbyte\/block/" three.csv | ns-source' '--print-units base'

table chosen.tsv <<'T'
phase   rank kernel name grid  block  shared_bytes
prefill 1    b      bee  5x1x1 32x1x1 1024
prefill 2    a      ay   6x1x1 32x1x1 1032
decode  1    a      ay   9x1x1 32x1x1 NA
T
is 'what was asked for, in its order' 'prefill 1 b bee 5x1x1 32x1x1 77.1
prefill 2 a ay 6x1x1 32x1x1 77.2' 'ns-source --kernels -p prefill --chosen chosen.tsv three.csv | sed 1d | cut -f 1-7 | tr "\t" " "'
exits 2 'one is missing'   'ns-source --chosen chosen.tsv three.csv' 'not profiled: decode 1: a grid 9x1x1 block 32x1x1'
ok 'partial: what is there' '[ "$(ns-source --partial -k 0 --chosen chosen.tsv three.csv | wc -l)" = 3 ]'
exits 2 'another shared memory' 'sed "s/1032/1033/" chosen.tsv >c; ns-source -p prefill --chosen c three.csv' 'not profiled: prefill 2'
exits 2 'a phase that is not there' 'ns-source -p x --chosen chosen.tsv three.csv' 'nothing is chosen in phase x'
exits 2 'chosen without a raw page' 'block a 1 | ns-source --chosen chosen.tsv' 'needs the raw page'
exits 2 'no chosen.tsv'    'ns-source --chosen nowhere three.csv' 'nowhere: no such file'
exits 2 'a column less'    'cut -f 1-4 chosen.tsv >c; ns-source --chosen c three.csv' 'grid'

# ---- with source lines: an instruction that is inlined stands in two files
lines() { cat <<'T'
"File Path","/src/a.h"
"Function Name","k"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","stall_wait"
"7","return x * y;","-","-","30","30"
"","","0x10","FMUL R1, R2, R3","30","30"
"File Path","/src/k.cu"
"Function Name","k"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","stall_wait"
"1","__global__ void","...","...","",""
"2","out = f(x, ""y"");","-","-","40","40"
"","","0x10","FMUL R1, R2, R3","30","30"
"","","0x20","FADD R1, R1, R3","10","10"
T
}
is 'counted once'   '30 10 0' 'lines | ns-source | column n_samples'
is 'at its line'    '/src/a.h:7 /src/k.cu:2 NA' 'lines | ns-source | column line'
is 'two launches'   '30 10 0 30 10 0' '{ lines; lines | sed "s/0x10/0x30/"; } | ns-source | column n_samples'
exits 2 'lines alone' 'printf "%s\n" "\"Kernel Name\",\"k\"" "\"#\",\"Source\",\"# Samples\"" "\"1\",\"x = 1;\",\"3\"" | ns-source' 'import with --print-source sass'

# ---- other forms
is 'of 2023, a column twice' '7 0' 'printf "%s\n" "\"Kernel Name\",\"void k<(bool)1>(float *)\"," "\"Address\",\"Source\",\"Warp Stall Sampling (All Cycles)\",\"Instructions Executed\",\"# Samples\",\"Instructions Executed\"" "\"0x10\",\"NOP \",\"7\",\"3,632\",\"7\",\"3,632\"" | ns-source | column n_samples'
is 'BOM and CRLF'       '' '{ printf "\357\273\277"; sed "s/$/\r/" page.csv; } | ns-source >b; diff a b'
is 'what ncu says beside' '' '{ echo "==PROF== Connected"; cat page.csv; echo; echo "==WARNING== x"; } | ns-source >b; diff a b'
is 'no newline at the end' '' 'printf %s "$(cat page.csv)" | ns-source >b; diff a b'
printf '"Kernel Name","a\tb\nc, ""d"" <&\033[31m",\n' >evil; sed 1d page.csv >>evil
is 'a hostile name'     'a b c, "d" <& [31m' 'ns-source evil | sed -n 2p | cut -f 3'
esc=$(printf '\033')
sed "s/\"k\"/\"${esc}[31mk\"/" page.csv >evil
ok 'a hostile name in a message' '{ raw a 4 0; cat evil; } | ns-source 2>err; [ $? -eq 2 ] && ! grep -q "$esc" err'
sed "s/1,024/${esc}[31m/" page.csv >evil
ok 'a hostile cell in a message' 'ns-source evil 2>err; [ $? -eq 2 ] && ! grep -q "$esc" err'
is 'a stall of later chips' 'new_thing' 'sed s/stall_barrier/stall_new_thing/ page.csv | ns-source | column stall | cut -d " " -f 2'
is 'which is told as it is' 'new_thing' 'sed s/stall_barrier/stall_new_thing/ page.csv | ns-source --kernels | column reading | grep -o new_thing'

# ---- bad input
bad() { exits 2 "$1" "sed '$2' page.csv | ns-source" "$3"; }
bad 'a row too short'     '4s/,"50"$//' 'stdin:4: row cut short'
bad 'a row too long'      '4s/$/,"1"/' 'stdin:4: more fields than the header has'
bad 'no column of samples' '2s/Warp Stall Sampling (All Samples)/x/' 'profile with --section SourceCounters'
bad 'no address'          '4s/0x7f20/x/' 'stdin:4: an address was expected: x'
bad 'an address too long' '4s/0x7f20/0x12345678901234567/' 'an address was expected'
bad 'no samples in a row' '4s/"60"/""/' 'no number of samples for: @P0   FADD R6, R3, R6'
bad 'letters'             '4s/"60"/"6x"/' "'6x' is no count"
bad 'negative'            '4s/"60"/"-60"/' "'-60' is no count"
bad 'a half'              '4s/"60"/"60.5"/' "'60.5' is no count"
bad 'another locale'      '3s/1,024/1.024/' "export again with LC_ALL=C"
bad 'a thousandth or a thousand' '3s/1,024/1.000/' "is no count"
bad 'odd groups'          '3s/1,024/1,02/' "'1,02' is no count"
bad 'groups that end'     '3s/1,024/1,024,/' "is no count"
bad 'more digits than a count has' '3s/1,024/99999999999999999999/' 'is no count'
bad 'more stalls than samples' '4s/"60"/"59"/' 'more stalls than samples'
bad 'a quote is open'     '4s/"$//' 'stdin:'
bad 'no name'             '1s/"k"/""/' 'a kernel without a name'
bad 'no kernel'           1d 'no line "Kernel Name" before it'
bad 'a row without header' 2d "not ncu's source page"
bad 'a stall of an odd name' '2s/stall_barrier/stall_../' 'a stall of an odd name'
exits 2 'empty'           'ns-source </dev/null' 'stdin: empty'
exits 2 'a name alone'    'head -1 page.csv | ns-source' "a kernel's name, and nothing of it"
exits 2 'header only'     'head -2 page.csv | ns-source' 'stdin:2: a header, but no instruction'
exits 2 'cut short'       'head -c -20 page.csv | ns-source' 'cut short'
exits 2 'NUL'             'sed "4s/FADD/FA\x00DD/" page.csv | ns-source' 'NUL byte'
exits 2 'ncu failed'      'echo "==ERROR== Failed to open file" | ns-source' 'stdin:1: ncu reports: ==ERROR== Failed to open file'
exits 2 'a program spoke' '{ echo hello; cat page.csv; } | ns-source' "stdin:1: not ncu's source page: import with --csv --page source: hello"
exits 2 'the raw page alone' 'raw a 4 0 | ns-source' "no kernel's source"
exits 2 'a raw page without units' '{ raw a 4 0 | sed 2d; block a 1; } | ns-source' 'no row of units'
exits 2 'no such file'    'ns-source nowhere' nowhere
exits 2 'two files'       'ns-source page.csv page.csv' usage
exits 2 'a bad number'    'ns-source -k x page.csv' hottest
exits 2 'full disk'       'ns-source page.csv >/dev/full' 'No space left'

# ---- an H200: every kernel once, whatever ncu printed twice; figures by awk from the page itself
if command -v xz >/dev/null; then
	xz -dc "$data/h200-source/decode.csv.xz" >decode.csv
	{ cat "$data/h200-kernels/kernels-decode.csv"; cat decode.csv; } >both.csv
	is 'twelve blocks, seven launches' '12 7' 'echo $(grep -c "^.Kernel Name" both.csv) $(ns-source --kernels both.csv | sed 1d | wc -l)'
	is 'samples of each' '478 26 333 616 450 9308 6' 'ns-source --kernels both.csv | column n_samples'
	is 'the same, by another way' '478 26 333 616 450 9308 6' \
		'awk -F "\",\"" "/^.Kernel Name/ { if (NR > 1 && !(same = text == last)) print n; last = text; text = n = 0; text = \$0; next } /^.0x/ { n += \$3; text = text \$0 } END { print n }" decode.csv | paste -sd " "'
	is 'what the last of decode waits for' '0x0690 FMUL R44, R40, R44 4051 long_scoreboard 0x0670 LDG.E.128.CONSTANT R44, desc[UR6][R46.64]' \
		'ns-source -k 1 both.csv | awk -F "\t" "\$5 == \"9496x1x1\" && \$8 == 1 { print \$9, \$11, \$13, \$15, \$17, \$18 }"'
	is 'in words' '43 % of samples wait for 1 load of global memory, 17 % for the other warps of the block, at a barrier (at 1 instruction)' \
		'ns-source --kernels both.csv | awk -F "\t" "\$5 == \"9496x1x1\" { print \$15 }"'
else
	skip_one 'an H200' 'no xz here'
fi
done_testing
