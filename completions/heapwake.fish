# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of heapwake's commands, options and files for fish.

set -l commands record report info dump verify help version

complete -c heapwake -f
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a record -d 'Run a program and record its heap'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a report -d 'Say what leaks and who is to blame'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a info -d 'Say what a recording holds'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a dump -d 'Print the events of a recording'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a verify -d 'Check that a recording is sound'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a help -d 'Say how a command is used'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a version -d 'Print the version'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -l version -d 'Say which version it is'
complete -c heapwake -l help -d 'Say how it is used'

complete -c heapwake -n '__fish_seen_subcommand_from record' -s o -l output -r -F -d 'Name of the recording'
complete -c heapwake -n '__fish_seen_subcommand_from record' -l children -x -a 'yes no' -d 'Whether children are recorded'
complete -c heapwake -n '__fish_seen_subcommand_from record' -s q -l quiet -d 'No closing line'
complete -c heapwake -n '__fish_seen_subcommand_from record' -xa '(__fish_complete_subcommand --fcs-skip=2)'

complete -c heapwake -n '__fish_seen_subcommand_from report' -l leaks -d 'Blocks never freed'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l peak -d 'Blocks live at the peak'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l allocated -d 'All blocks, by bytes'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l calls -d 'All blocks, by number'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l temporary -d 'Blocks freed at once'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l by -x -a 'function line module file process' -d 'In groups'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l tree -d 'Callers below the functions that allocate'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l top-down -d 'Callees below those that call them'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l callers -x -d 'Callers of a function'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l callees -x -d 'What a function called'
complete -c heapwake -n '__fish_seen_subcommand_from report' -s n -x -d 'How many sites or groups'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l threshold -x -d 'Leave out smaller shares, in percent'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l include -x -d 'Only stacks that match'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l exclude -x -d 'No stacks that match'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l suppressions -r -F -d 'Known leaks'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l no-built-in-suppressions -d 'libc and libstdc++ too'
complete -c heapwake -n '__fish_seen_subcommand_from report' -l json -d 'As a JSON object'
complete -c heapwake -n '__fish_seen_subcommand_from info' -l json -d 'As a JSON object'
complete -c heapwake -n '__fish_seen_subcommand_from dump' -l tsv -d 'In columns'
complete -c heapwake -n '__fish_seen_subcommand_from dump' -l stacks -d 'With call stacks'
complete -c heapwake -n '__fish_seen_subcommand_from help' -a 'record report info dump verify'
complete -c heapwake -n '__fish_seen_subcommand_from report info dump verify' -k -a '(__fish_complete_suffix .wake)'
