#!/bin/sh
. "${0%/*}/tap.sh"

allow() { "$top/setup/allow-counters.sh" --root root "$@"; }
params() { mkdir -p root/proc/driver/nvidia && printf 'RegistryDwords: ""\nRmProfilingAdminOnly: %s\n' "$1" >root/proc/driver/nvidia/params; }
conf=root/etc/modprobe.d/nvidia-profiling.conf

exits 2 'no driver'          'allow'         'no NVIDIA driver is loaded: there is no root/proc/driver/nvidia/params'
exits 1 'no driver, applied' 'allow --apply'  'wrote root/etc/modprobe.d/nvidia-profiling.conf'
rm -r root/etc
params 0
exits 0 'open'               'allow'         'open to all (RmProfilingAdminOnly: 0)'
ok 'nothing is written'      '[ ! -e root/etc ]'
params 1
exits 1 'closed'             'allow'         'for administrators only (RmProfilingAdminOnly: 1)'
ok 'the remedy is said'      "grep -q 'sudo .*allow-counters.sh --apply' err && grep -q NVreg_RestrictProfilingToAdminUsers=0 err"
ok 'nothing is written yet'  '[ ! -e root/etc ]'
exits 1 'applied'            'allow --apply' 'wrote root/etc/modprobe.d/nvidia-profiling.conf'
ok 'what is left to do'      'grep -q "start the machine again" err'
is 'what was written'        'options nvidia NVreg_RestrictProfilingToAdminUsers=0' 'cat $conf'
ok 'nothing else'            '[ "$(ls root/etc/modprobe.d)" = nvidia-profiling.conf ]'
exits 1 'applied twice'      'cp -p $conf was; allow --apply' 'asked for already, in root/etc/modprobe.d/nvidia-profiling.conf'
ok 'the file is the same'    '[ ! $conf -nt was ] && cmp $conf was'
exits 1 'asked again'        'allow'         'it takes effect when the module is loaded anew'
params 0
exits 0 'after the start'    'allow'         'open to all'
exits 0 'applied when open'  'allow --apply' 'asked for already'
params 1
echo 'options nvidia NVreg_EnableResizableBar=1 NVreg_RestrictProfilingToAdminUsers=1' >root/etc/modprobe.d/site.conf
exits 2 'another file closes' 'allow --apply' 'closed by root/etc/modprobe.d/site.conf'
echo '# options nvidia NVreg_RestrictProfilingToAdminUsers=1' >root/etc/modprobe.d/site.conf
exits 1 'a comment closes nothing' 'allow'   'asked for already'
params 7
exits 1 'an unknown state'   'allow'         'cannot be told here (RmProfilingAdminOnly: 7)'
exits 2 'an unknown word'    'allow --now'   'usage:'
exits 2 'a root without a folder' '"$top/setup/allow-counters.sh" --root' 'usage:'
rm -rf root/etc && : >root/etc
params 1
exits 2 'cannot write'       'allow --apply' 'cannot write root/etc/modprobe.d/nvidia-profiling.conf: run it as root'
done_testing
