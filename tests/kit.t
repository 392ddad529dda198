#!/bin/sh
# shellcheck disable=SC2016,SC2034,SC2046,SC2086	# commands are evaluated by tap.sh
# make kit, unpacked where there is make, a shell, coreutils, awk, sed, grep, flock and
# nothing else: in a root of its own if that is allowed, else with that PATH alone.
. "${0%/*}/tap.sh"

command -v flock >/dev/null || skip 'no flock here'
command -v sqlite3 >/dev/null || skip 'no sqlite3 here'
mkdir -p one/docs && cp -a "$top/Makefile" "$top/README.md" "$top/mk" "$top/tools" "$top/configs" "$top/setup" one &&
	cp -a "$top"/docs/*.md "$top/docs/man" "$top/docs/examples" one/docs && cp -a "$build" one/build

ok  'make kit'                       'make -s -C one kit'
kit=nsbench-kit-$(ns-report --version | sed 's/.* //')-$(uname -m)
ok  'as small as README says'        '[ "$(wc -c <one/build/$kit.tar.xz)" -lt "$(sed -n "s/^under \([0-9]*\) MB (\[how\].*/\1/p" "$top/README.md")000000" ]'
ok  'elsewhere and anew: the same bytes' 'mv one/build/$kit.tar.xz kit.tar.xz && mv one two && rm -r two/build/kit && touch two/mk/* && make -s -C two kit && cmp kit.tar.xz two/build/$kit.tar.xz'
mkdir -p bare/bin bare/dev && tar -x -C bare -f kit.tar.xz && mv bare/$kit bare/kit
is  'one folder'                     'bin dev kit' 'ls bare | xargs'
is  'links of its pages'             '' '"$top/tests/links.sh" bare/kit'
ok  'no path of where it was built'  '! grep -raF -e "$top/" -e "$dir/" bare/kit'
is  'no library but glibc'\''s own'  'libc.so.6 libm.so.6' 'ldd $(find bare/kit/build -type f ! -name kit.kv) | awk "\$2 == \"=>\" { print \$1 }" | sort -u | xargs'

# That machine.
for p in make bash sh awk sed grep flock basename cat chmod cksum cp cut date dirname env head id ln ls mkdir mktemp mv nproc \
    paste readlink rm rmdir sha256sum sleep sort stat tac tail tee timeout touch tr uname uniq wc; do
	cp -L "$(command -v $p)" bare/bin || exit 1
done
libc=$(ldd bare/bin/bash | sed -n 's|.* \(/.*/\)libc\.so.*|\1|p')
cp -L --parents $({ ldd bare/bin/*; echo "$libc"libm.so.6; } | grep -o '/[^ ]*\.so[^ ]*' | sort -u) bare
: >bare/dev/null
if unshare -rm mount --bind /dev/null bare/dev/null 2>/dev/null; then
	alone=yes
	bare() { unshare -rm sh -c 'mount --bind /dev/null bare/dev/null && exec chroot bare env -i PATH=/bin sh -c "cd kit; $1"' sh "$*" </dev/null; }
else
	alone=''
	bare() { env -i PATH=$dir/bare/bin sh -c "cd bare/kit; $*" </dev/null; }
fi
run() { bare make -f mk/run.mk "$@"; }

is  'nothing to build'               "make: Nothing to be done for 'all'." 'bare make'
sqlite3 bare/kit/t.sqlite <"$data/nsys.sql"
R=bare/kit/runs/someone.default.adopted
ok  'a capture of someone to a report' 'run MODEL=someone TIMELINE=t.sqlite 2>err >out; s=$?; cat err; [ $s -eq 0 ] && [ -s $R/report.html ]'
ok  'no figures, as it says'         'grep -q "no gnuplot here, so no figures: where there is one, .make -f mk/run.mk MODEL=someone WORKLOAD=default BACKEND=adopted report. draws them" err && grep -q "No figures: they take gnuplot" $R/report.md'
ok  'nothing else was missed'        '! grep "not found\|No such\|is missing\|warning" err'
ok  'again: nothing'                 'run MODEL=someone TIMELINE=t.sqlite V=1 >out 2>err && ! grep "nsys2tsv work\|mv " out'
ok  'drawn where gnuplot is'         'mkdir gnu && cp "$top/tests/fake/gnuplot" gnu && cp -a bare/kit/runs two/ && PATH=$dir/gnu:$PATH make -s -C two -f mk/run.mk MODEL=someone BACKEND=adopted report && [ -s two/runs/someone.default.adopted/figures/timeline.svg ] && ! grep "No figures: they take gnuplot" two/runs/someone.default.adopted/report.md'
ok  'kept where it is not'           'rm -r bare/kit/runs && cp -a two/runs bare/kit && run MODEL=someone BACKEND=adopted report 2>err && [ -e $R/figures/timeline.svg ] && ! grep gnuplot err'
ok  'while they are true'            'touch $R/work.tsv && run MODEL=someone BACKEND=adopted report 2>err && [ ! -e $R/figures ] && grep "no gnuplot here" err && grep "No figures: they take gnuplot" $R/report.md'
if [ "$alone" ]; then
	exits 2 'cpu: what is missing'   'run BACKEND=cpu' 'valgrind is missing'
else
	skip_one 'cpu: what is missing'  'no root of its own'
fi
ok  'the worker works'               'run BACKEND=cpu >out 2>&1; bare build/ns-worker -d cpu -m checkpoints/tiny -p 4 -g 2 -w 0 -r 1 >out && [ "$(wc -l <out)" -eq 4 ]'
ok  'its fingerprint'                '[ "$(cat bare/kit/build/ns-calib.sum)" = "$(sha256sum <bare/kit/build/ns-calib)" ]'

# On a machine of another kind, or an older one.
exits 2 'another machine'            'sed -i "s/^kit_machine=.*/kit_machine=vax/" bare/kit/build/kit.kv; run' "this kit is for vax, this machine is $(uname -m): 'make kit' on a machine of its kind"
sed -i "s/^kit_machine=.*/kit_machine=$(uname -m)/" bare/kit/build/kit.kv
printf '#!/bin/sh\necho "$0: libc.so.6: version GLIBC_2.99 not found" >&2; exit 1\n' >old && chmod +x old
exits 2 'a libc that is too old'     'mv bare/kit/build/yaml2kv new; cp old bare/kit/build/yaml2kv; run; s=$?; mv new bare/kit/build/yaml2kv; (exit $s)' 'they need glibc 2.'
ok  'with what it said'              'grep -q "(build/yaml2kv: libc.so.6: version GLIBC_2.99 not found)" err'

# BACKEND where a GPU is.
K=bare/kit
default() { sed -i "s/^kit_cuda_archs=.*/kit_cuda_archs=$1/" $K/build/kit.kv && run TAG=x report; }
if [ "$alone" ]; then
	: >bare/dev/nvidia0
	exits 2 'cuda, if the tools know it' 'default 90' "BACKEND=cuda TAG=x' captures it"
	exits 2 'cpu, if they do not'    'default NA' "BACKEND=cpu TAG=x' captures it"
else
	skip_one 'the default backend'   'no root of its own'
fi

# Its tiers: what an H200 said, as in cuda.t.
recorded=$data/h200-run
mkdir $K/build/real $K/sets $K/checkpoint && cp -R "$recorded" $K/recorded && echo '{}' >$K/checkpoint/config.json
printf 'version: 5\nmetricSets:\n- alias: gh100\n  chips: [GH100]\n' >$K/sets/gh100.config
for s in a b; do mv $K/recorded/sampled-$s.sqlite $K/recorded/$s.sqlite; done
sed -i 's|^ncu=.*|ncu=ncu|; s|^nsys=.*|nsys=nsys|; s|^gpu_throttle=.*|gpu_throttle=none|' $K/recorded/probe.kv
cp "$top/tests/fake/h200" bare/bin/ncu && cp "$top/tests/fake/nsys" bare/bin/nsys
for t in ns-calib ns-plan ns-probe ns-worker; do mv $K/build/$t $K/build/real && cp bare/bin/ncu $K/build/$t; done
printf '#!/bin/sh\n[ $1 = model ] && cat recorded/model.kv || cat recorded/tensors.tsv\n' >$K/build/ns-discover
R=$K/runs/qwen.default.cuda
ok  'every tier'                     'run MODEL=qwen BACKEND=cuda NSYS_SETS=sets CHECKPOINT=checkpoint profile_top_kernels=3 >out 2>err; s=$?; cat err; [ $s -eq 0 ] && grep -q "\*\*Trusted\*\*" $R/report.md && [ -s $R/detail.tsv ] && [ -s $R/sampled.tsv ]'
ok  'any command'                    'bare "make -f mk/run.mk MODEL=any NSYS_SETS=sets CMD='"'"'build/ns-worker -m x'"'"'" >>out 2>>err; s=$?; cat err; [ $s -eq 0 ] && grep -q "ns-worker -m x., .* alone" $K/runs/any.default.command/report.md && [ -s $K/runs/any.default.command/sampled.tsv ]'
ok  'nothing was missed'             '! grep "not found\|No such\|is missing" err'
done_testing
