#!/bin/sh
# The command for who owns a GB10, on one made of a stand-in for ncu.
. "${0%/*}/tap.sh"
. "$top/tests/gb10.sh"

# A GB10 as ns-probe sees it, a gate that says what it moves, and an ncu that
# runs it twice and logs what it was asked.  Reads and writes of 1 MiB.
mkdir bin
for tool in ncu2tsv ns-rollup yaml2kv; do ln -s "$(command -v $tool)" bin; done
real=$(command -v ns-calib)
printf '#!/bin/sh\nexec "%s" --cupti ./none.so "$@"\n' "$(command -v ns-plan)" >bin/ns-plan
cat >bin/ns-probe <<'END'
#!/bin/sh
if [ "${1-}" = --require ]; then cat denied >&2 2>/dev/null && exit 1; exit 0; fi
cat probe.kv
END
cat >bin/ns-calib <<END
#!/bin/sh
[ "\$*" = '-d cuda gate' ] || exec "$real" "\$@"
cat "$dir/expected"
END
cat >bin/ncu <<END
#!/bin/sh
if [ "\$1" = --query-metrics ]; then cat "$dir/known"; exit; fi
printf '%s\n' "\$@" >"$dir/asked"
while [ "\$1" != --log-file ]; do shift; done
cp "$dir/capture.csv" "\$2"
while [ "\${1##*/}" != ns-calib ]; do shift; done
"\$@" && "\$@"
END
chmod +x bin/*
printf '%s\n' platform=gb10 gpu_chip=GB20B platform_why=chip_GB20B gpu=NVIDIA_GB10 gpu_l2_bytes=25165824 kernel=6.11 >probe.kv
table expected <<'END'
kernel rung direction expected_bytes
read memory read 1048576
read memory write 0
write memory read 0
write memory write 1048576
END
awk -F '\t' 'NR == 1 { print "Device NVIDIA GB10" } NR > 1 { sub(/\.sum$/, "", $4); print $4 "   Counter   byte   # of them" }' \
    "$top/configs/platforms/gb10/metrics.tsv" >known
capture() { { range read 32768 0; range write 0 "$1"; } | raw_csv >capture.csv; }
# The script runs in the project's folder; the stand-ins find their files here.
sed -i "s|denied|$dir/denied|;s|probe.kv|$dir/probe.kv|" bin/ns-probe
verify() { PATH=$dir/bin:$PATH NS_BUILD=$dir/bin "$top/setup/verify-gb10.sh" "$@" "$dir/run"; }

capture 32768
ok 'a gate that passes'     'verify >form 2>err'
ok 'what ncu was asked'     'grep -qx app-range asked && grep -qx nsbench@reread/ asked'
is 'for every metric of tier 1' '' \
    "grep -e '^smsp__\|,' asked | tr ',' '\n' | sort >a; awk -F '\t' 'NR > 1 && \$6 <= 1 { print \$4 }' $top/configs/platforms/gb10/metrics.tsv | sort -u | diff a -"
is 'the expected once, however often it ran' '' 'diff expected run/gate.expected.tsv'
ok 'the form: the machine'  "grep -qx gpu_l2_bytes=25165824 form"
ok 'the form: verdict'      "grep -qx 'Verdict: pass' form && grep -qx '| write | memory | write | 1048576 | 1048576 | 0 | pass |' form"
ok 'the form: sentinels'    "grep -qx '| read | lts__t_sectors_aperture_peer_lookup_miss.sum | 0 | 0 |' form"
ok 'the form: witnesses'    "grep -qx '| read | memory | read | lts__d_sectors_fill_sysmem.sum | 1048576 |' form"
ok 'the form: rungs'        "grep -q '^| read | xbar | 1080576 |' form"
ok 'the form: nothing missing' 'tail -n 2 form | grep -qx none'
is 'the form: ncu knows all' 'none none ' "sed -n '/^## 6/,\$p' form | grep -v '\`\|:\|^#\|^\$' | tr '\n' ' '"
grep -v l1tex2xbar_write_sectors_realtime known >k && mv k known
ok 'a name that ncu does not know' 'verify >form 2>err'
ok 'is not asked for'       '! grep -q l1tex2xbar_write_sectors_realtime asked && grep -q lts__d_sectors_fill_sysmem asked'
ok 'and is in the form'     'grep -qx l1tex__m_l1tex2xbar_write_sectors_realtime.sum form'
: >known
ok 'an ncu that lists nothing is asked for all' 'verify >form 2>err && grep -q l1tex2xbar_write_sectors_realtime asked'

capture 16384
exits 1 'half of the writes: an answer too' 'verify >form'  'gate: 34 metrics in 6 passes'
ok 'the form says so'       "grep -qx 'Verdict: fail' form && grep -q '^| write | memory | write | 1048576 | 524288 | -0.5 | fail |' form"
sed 's/"lts__d_sectors_fill_sysmem.sum"/"lts__gone.sum"/;s/"lts__t_sectors_aperture_sysmem_op_read_lookup_miss.sum"/"lts__lost.sum"/' capture.csv >c && mv c capture.csv
exits 1 'a metric without a value' 'verify >form'          'gate:'
ok 'is named'               "grep -q 'op_read_lookup_miss.sum has no value in 1 of 1' form"

echo '==ERROR== ERR_NVGPUCTRPERM' >capture.csv
exits 2 'a capture without a table' 'verify >form'         'no table: ==ERROR== ERR_NVGPUCTRPERM'
sed -i 's/gb10/gh100/' probe.kv
exits 2 'another machine'   'verify'                        "this machine is platform 'gh100'"
sed -i 's/gh100/gb10/' probe.kv
echo 'GPU counters are for administrators only' >denied
exits 2 'no permission'     'verify'                        'for administrators only'
rm denied
printf '#!/bin/sh\necho "==ERROR== no" >&2; exit 9\n' >bin/ncu
exits 2 'ncu fails'         'verify'                        'ncu failed'
exits 2 'no such platform'  'verify --platform nine'        "no platform 'nine' with a GPU"
exits 2 'cpu is none'       'verify --platform cpu'         "no platform 'cpu' with a GPU"
exits 2 'an unknown option' 'verify --now'                  'usage:'
rm bin/ns-plan
exits 2 'not built'         'verify'                        'ns-plan is missing: run make first'
done_testing
