#!/bin/sh
. "${0%/*}/tap.sh"

# yaml TEXT: the settings in it, one line, separated by spaces.
yaml() { printf '%b' "$1" | yaml2kv | tr '\n' ' '; }
yaml_fails() { exits 2 "$1" "printf '%b' '$2' | yaml2kv" "$3"; }

is 'scalars'        'a=1 b=x.y/z '      "yaml 'a: 1\nb: x.y/z\n'"
is 'nesting'        'a_b_c=1 a_d=2 '    "yaml 'a:\n  b:\n    c: 1\n  d: 2\n'"
is 'lists'          'a=1,2,x b= '       "yaml 'a: [1, 2, x]\nb: []\n'"
is 'quotes go'      'a=1 '              "yaml 'a: \"1\"\n'"
is 'a prefix'        'm_a=1 m_b_c=2 '   "printf 'a: 1\nb:\n  c: 2\n' | yaml2kv -p m | tr '\n' ' '"
is 'from a file'    'a=1'               "printf 'a: 1\n' >f && yaml2kv f"
yaml_fails 'empty'            ''                       'stdin:1:1: empty'
yaml_fails 'a list'           '- 1\n'                  'stdin:1:1: a mapping was expected'
yaml_fails 'duplicate'        'a: 1\nb: 2\na: 3\n'     'stdin:3:1: set twice: a'
yaml_fails 'joined duplicate' 'a_b: 1\na:\n  b: 2\n'   'stdin:3:3: set twice: a_b'
yaml_fails 'anchor'           'a: &x 1\n'              'stdin:1:4: anchors'
yaml_fails 'alias'            'a: *x\n'                'anchors and aliases'
yaml_fails 'anchored mapping' 'a: &x\n  b: 1\n'        'anchors and aliases'
yaml_fails 'tab'              'a:\n\tb: 1\n'           'indent with spaces, not tabs'
yaml_fails 'tag'              'a: !!str 1\n'           'stdin:1:4: tags'
yaml_fails 'unsafe value'     'a: $(reboot)\n'         'stdin:1:4: unsafe character in value: $'
yaml_fails 'space in value'   'a: b c\n'               'unsafe character'
yaml_fails 'unsafe name'      'A: 1\n'                 'stdin:1:1: a name holds only a-z, 0-9 and _, not: A'
yaml_fails 'list of lists'    'a: [[1]]\n'             'a list may hold only scalars: a'
yaml_fails 'two documents'    'a: 1\n---\nb: 2\n'      'more than one document'
yaml_fails 'not YAML'         'a: [1\n'                'stdin:'
exits 2 'no such file'  'yaml2kv nofile'                  'nofile: No such file'
exits 2 'a directory'   'yaml2kv .'                       'Is a directory'
exits 2 'full disk'     "printf 'a: 1\n' | yaml2kv >/dev/full" 'No space left'
done_testing
