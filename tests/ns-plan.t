#!/bin/sh
# Planning needs libcupti, no GPU: where it is not, recorded plans alone.
. "${0%/*}/tap.sh"

platforms=$top/configs/platforms

# A stand-in for libcupti with arithmetic instead of chips: a metric NAME:ABC
# uses counters A, B and C; a pass has one of each letter, so that a set takes
# as many passes as its most wanted letter; no two metrics with x fit at all.
cat >fake.c <<'END'
#include <stdlib.h>
#include <string.h>
#include "cupti.h"
static size_t need;
static const char *const chips[] = { "ONE", "TWO" };
#ifdef MUTE
int cuptiGetVersion(uint32_t *v) { (void)v; return 999; }
#else
int cuptiGetVersion(uint32_t *v) { *v = 42; return 0; }
#endif
int cuptiProfilerHostGetSupportedChips(struct host_chips *p)
{ p->n = 2; p->name = chips; return p->size != 32; }
int cuptiProfilerHostInitialize(struct host_init *p)
{ p->host = malloc(1); return p->size != 48 || strcmp(p->chip, "TWO") == 0; }
int cuptiProfilerHostDeinitialize(struct host_fini *p)
{ free(p->host); return p->size != 24; }
int cuptiProfilerHostConfigAddMetrics(struct host_add *p)
{
	size_t used[256] = { 0 };
	need = 0;
	for (size_t i = 0; i < p->n; i++) {
		const char *s = strchr(p->name[i], ':');
		if (s == NULL)
			return 7;
		while (*++s != '\0')
			if (++used[(unsigned char)*s] > need)
				need = used[(unsigned char)*s];
	}
	return p->size != 40 || used['x'] > 1;
}
int cuptiProfilerHostGetConfigImageSize(struct host_image_size *p)
{ p->bytes = 16; return p->size != 32; }
int cuptiProfilerHostGetConfigImage(struct host_image *p)
{ memset(p->image, 1, p->bytes); return p->size != 40 || p->bytes != 16; }
int cuptiProfilerHostGetNumOfPasses(struct host_passes *p)
{ p->n = need; return p->size != 40 || p->image[15] != 1; }
END
${CC:-cc} -shared -fPIC -I"$top/tools/lib" -o fake.so fake.c 2>cc.log || skip 'no C compiler here'
${CC:-cc} -shared -fPIC -DMUTE -I"$top/tools/lib" -o mute.so fake.c
reg() { { echo 'quantity rung metric tier role set'; cat; } | table m; }
# shellcheck disable=SC2120 # in strings
fake() { ns-plan -m m --chip ONE --cupti ./fake.so "$@"; }
# Pass, passes and metric, a line each.
rows() { sed 1d | awk -F '\t' '{ printf "%s%s/%s %s", s, $2, $3, $4; s = ", " }'; }

reg <<'END'
requests l1 r:a 1 value s
bytes memory m:a 1 value s
bytes memory w:b 1 value s,t
bytes memory late:c 2 value s
time NA t:d 1 value t
flop NA f:b 1 value s
bytes l1 free:e 1 value NA
bytes memory wit:f 1 witness s
bytes memory sent:g 1 sentinel s
requests l2 r:a 1 value s
END
is 'memory, sentinels and time first, then what is free; each metric once' \
    '1/1 m:a, 1/1 w:b, 1/1 t:d, 1/1 sent:g, 1/1 free:e, 1/1 wit:f, 2/1 r:a, 2/1 f:b' 'fake | rows'
is 'header and source'      'chip pass n_passes metric source,ONE 1 1 m:a cupti-42,' \
    "fake | sed 2q | tr '\t\n' ' ,'"
is 'only memory'            '1/1 m:a, 1/1 w:b, 1/1 t:d, 1/1 sent:g' 'fake --memory --one-pass | rows'
is 'a higher tier'          '1/1 m:a, 1/1 w:b, 1/1 late:c, 1/1 t:d' 'fake --tier 2 --memory | rows | cut -d , -f 1-4'
is 'a set'                  '1/1 w:b, 1/1 t:d' 'fake --set t | rows'
exits 1 'one pass is too few' 'fake --one-pass'  'ns-plan: ONE: the 8 metrics take 2 passes; r:a is the first too many'
ok 'and nothing is printed' '[ ! -s out ]'
is 'the same twice'         '' 'fake >1; fake | diff 1 -'

# A metric of two passes alone; two such share them, which a merger finds.
reg <<'END'
bytes l1 p:aab 1 value s
bytes l1 q:b 1 value s
bytes l1 r:cc 1 value s
END
is 'groups of several passes' '1/2 p:aab, 1/2 q:b, 1/2 r:cc' 'fake | rows'
# The first pass takes q, not p: that leaves two passes of d instead of three.
reg <<'END'
bytes memory m:a 1 value s
bytes l1 p:b 1 value s
bytes l1 q:bd 1 value s
bytes l1 s:dd 1 value s
END
is 'what the first pass takes besides' '1/1 m:a, 1/1 q:bd, 2/2 p:b, 2/2 s:dd' 'fake | rows'
# Three ways to pair p, q, r and s; the whole of them takes two passes.
reg <<'END'
bytes l1 p:ab 1 value s
bytes l1 q:bc 1 value s
bytes l1 r:cd 1 value s
bytes l1 s:da 1 value s
END
is 'no more than all at once' 2 "fake | awk -F '\t' 'NR > 1 { n = \$2 + \$3 - 1 } END { print n }'"
reg <<'END'
bytes l1 p:ax 1 value s
bytes l1 q:bx 1 value s
bytes l1 r:c 1 value s
END
is 'what does not go together stands apart' '1/1 p:ax, 1/1 r:c, 2/1 q:bx' 'fake | rows'
exits 1 'and is refused as one pass' 'fake --one-pass' 'nor any number of them; q:bx is the first too many'
reg <<'END'
bytes memory p:ax 1 value s
bytes memory q:bx 1 value s
END
exits 2 'memory that cannot be counted' 'fake'   'memory, sentinels and time cannot be counted in one run'

# A recorded plan, less what is not wanted.
reg <<'END'
bytes memory m:a 1 value s
bytes l1 r:a 1 value s
bytes l1 f:bb 1 value s
END
# shellcheck disable=SC2119
fake >p
none='ns-plan -m m --chip ONE --cupti ./none.so'
is 'recorded: the same'     '' "$none --recorded p | diff p -"
is 'recorded: less, and passes close up' '1/1 m:a, 2/2 f:bb' "grep -v r:a m >m2; $none -m m2 --recorded p | rows"
is 'recorded: by what does not answer' '' 'ns-plan -m m --chip ONE --cupti ./mute.so --recorded p | diff p -'
ok 'recorded: one pass'     "$none --memory --one-pass --recorded p"
exits 1 'recorded: more'    "$none --one-pass --recorded p" 'the 3 metrics take 3 passes as recorded'
exits 2 'recorded: a metric without' "grep -v r:a p | $none --recorded -" 'stdin: no r:a for chip ONE: make it again where libcupti is'
exits 2 'recorded: another chip' "$none --chip GB20B --recorded p"    'no m:a for chip GB20B'
exits 2 'recorded: twice'   "{ cat p; tail -1 p; } | $none --recorded -"  "metric: '"
exits 2 'recorded: order'   "{ head -1 p; sed 1d p | sort -r; } | $none --recorded -" 'passes are not in order'
exits 2 'recorded: no passes' "sed 's/	1	1	/	1	0	/' p | $none --recorded -" 'not a count of passes'
exits 2 'recorded: a word'  "sed 's/	1	1	/	x	1	/' p | $none --recorded -" "pass: not a count: 'x'"
exits 2 'neither'           "$none"                  './none.so: not a libcupti whose host interface answers: install CUPTI'
exits 2 'recorded: not for sampling' "$none --sampling --recorded p" 'install CUPTI'

# Bad input.
exits 2 'no registry'       'ns-plan --chip ONE'                 'usage: ns-plan'
exits 2 'no chip'           'ns-plan -m m'                       'usage: ns-plan'
exits 2 'an operand'        'fake x'                             'usage: ns-plan'
exits 2 'an unknown chip'   'fake --chip THREE'                  "libcupti 42 knows no chip 'THREE'; it knows ONE to TWO"
exits 2 'a chip that fails' 'fake --chip TWO'                    'libcupti 42 cannot plan for chip TWO'
exits 2 'an unknown metric' 'echo "bytes l1 nocolon 1 value s" | tr " " "\t" >>m; fake' 'nocolon: chip ONE cannot count it'
exits 2 'the same, in one pass' 'fake --one-pass'                'nocolon: chip ONE cannot count it'
exits 2 'no such set'       'fake --set nine'                    'm: no such metric in it'
exits 2 'a tier that is no number' 'fake --tier x'               '--tier'
exits 2 'empty'             'fake -m /dev/null'                  'empty: no header line'
exits 2 'header only'       'head -1 m >h; fake -m h'            'h: no such metric in it'
exits 2 'ragged row'        '{ cat m; echo x; } | fake -m -'     'stdin:6: 1 fields, the header has 6'
exits 2 'missing column'    'cut -f 1-4 m | fake -m -'           "stdin: no column 'role'"
exits 2 'NA as tier'        "sed 's/	1	value/	NA	value/' m | fake -m -" 'stdin:2: tier'
exits 2 'cut last line'     "printf %s \"\$(cat m)\" | fake -m -" 'last line cut short'
exits 2 'full disk'         "sed -i /nocolon/d m; fake >/dev/full" 'stdout: No space left'

# The blocks that are handed to CUPTI, as NVIDIA declares them.
header=$(find -L /usr/local/cuda*/include /usr/local/cuda*/extras/CUPTI/include -name cupti_profiler_host.h 2>err | head -1)
if [ -n "$header" ]; then
	mkdir empty && : >empty/string
	ok 'parameter blocks as in the header' "${CC:-cc} -std=gnu11 -Iempty -isystem ${header%/*} -I$top/tools/lib -o s $top/tests/cupti-structs.c && ./s"
else
	skip_one 'parameter blocks as in the header' 'no cupti_profiler_host.h here'
fi

# The real platforms by the real CUPTI, which does not load beside a sanitizer.
if ! ns-plan -m "$platforms/gb10/metrics.tsv" --chip GB20B >gb10 2>err &&
    grep -q 'libcupti.so was not found\|RTLD_DEEPBIND' err; then
	skip_one 'the platforms, planned' 'no libcupti here, or a sanitizer'
	done_testing
fi
for p in gb10:GB20B gh100:GH100 ga100:GA100 ad10x:AD102 gb100:GB100 gb110:GB110 gb202:GB202; do
	chip=${p#*:} p=${p%:*}
	ok "$p: memory, sentinels and time cost one pass" \
	    "ns-plan -m $platforms/$p/metrics.tsv --chip $chip --memory --one-pass"
	for set in a b; do
		ok "$p: set $set is sampled in one pass" \
		    "ns-plan -m $platforms/$p/samples.tsv --chip $chip --sampling --set $set --one-pass"
	done
done
is 'gb10: what that pass holds'  'gpu__time_duration lts__t_sectors_aperture_device_lookup_miss lts__t_sectors_aperture_peer_lookup_miss lts__t_sectors_aperture_sysmem_op_read_lookup_miss lts__t_sectors_aperture_sysmem_op_write_lookup_miss ' \
    "ns-plan -m $platforms/gb10/metrics.tsv --chip GB20B --memory | sed 1d | cut -f 4 | sed 's/.sum//' | sort | tr '\n' ' '"
ok 'gb10: a set that is too much says so' \
    "! ns-plan -m $platforms/gb10/samples.tsv --chip GB20B --sampling --one-pass 2>err && grep -q 'take 2 passes\|nor any number' err"
exits 2 'gb10: no counters at the memory' \
    "printf 'quantity\trung\tmetric\ttier\trole\nbytes\tmemory\tdram__bytes_read.sum\t1\tvalue\n' | ns-plan -m - --chip GB20B" 'dram__bytes_read.sum: chip GB20B cannot count it'
for p in gb10:GB20B gh100:GH100 ga100:GA100 ad10x:AD102 gb100:GB100 gb110:GB110 gb202:GB202; do
	chip=${p#*:} p=${p%:*}
	all=$(ns-plan -m "$platforms/$p/metrics.tsv" --chip "$chip" --one-pass 2>&1 | sed -n 's/.* take \([0-9]*\) passes.*/\1/p')
	is "$p: no more passes than CUPTI takes for all at once" "$all" \
	    "ns-plan -m $platforms/$p/metrics.tsv --chip $chip | awk -F '\t' 'NR > 1 { n = \$2 + \$3 - 1 } END { print n }'"
done
version=$(sed -n 's/^.*\(cupti-[0-9]*\)$/\1/p' gb10 | head -1)
for p in gb10:GB20B gh100:GH100; do
	chip=${p#*:} p=${p%:*}
	if [ "$version" = "$(sed -n "s/^$chip.*\(cupti-[0-9]*\)\$/\1/p" "$platforms/$p/plan.tsv" | head -1)" ]; then
		is "$p: the recorded plan is CUPTI's own: make plans" '' \
		    "ns-plan -m $platforms/$p/metrics.tsv --chip $chip | diff $platforms/$p/plan.tsv -"
	else
		skip_one "$p: the recorded plan is CUPTI's own" "another CUPTI made it than $version"
	fi
done
done_testing
