# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of heapwake's commands, options and files for fish.

set -l commands record info dump verify symbolize extract help version

complete -c heapwake -f
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a record -d 'Run a program and record its heap'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a info -d 'Say what a recording holds'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a dump -d 'Print the events of a recording'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a verify -d 'Check that a recording is sound'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a symbolize -d 'Put names of functions into a recording'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a extract -d 'Get the binaries out of a recording'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a help -d 'Say how a command is used'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -a version -d 'Print the version'
complete -c heapwake -n "not __fish_seen_subcommand_from $commands" -l version -d 'Say which version it is'
complete -c heapwake -l help -d 'Say how it is used'

complete -c heapwake -n '__fish_seen_subcommand_from record' -s o -l output -r -F -d 'Name of the recording'
complete -c heapwake -n '__fish_seen_subcommand_from record' -l children -x -a 'yes no' -d 'Whether children are recorded'
complete -c heapwake -n '__fish_seen_subcommand_from record' -l symbols -x -a 'yes no' -d 'Whether names are looked up'
complete -c heapwake -n '__fish_seen_subcommand_from record symbolize' -l embed-binaries -d 'Put program and libraries into the recording'
complete -c heapwake -n '__fish_seen_subcommand_from record' -s q -l quiet -d 'No closing line'
complete -c heapwake -n '__fish_seen_subcommand_from record' -xa '(__fish_complete_subcommand --fcs-skip=2)'

complete -c heapwake -n '__fish_seen_subcommand_from info' -l json -d 'As a JSON object'
complete -c heapwake -n '__fish_seen_subcommand_from dump' -l tsv -d 'In columns'
complete -c heapwake -n '__fish_seen_subcommand_from dump' -l stacks -d 'With call stacks'
complete -c heapwake -n '__fish_seen_subcommand_from symbolize' -l sysroot -x -a '(__fish_complete_directories)' -d 'Where the recorded files are'
complete -c heapwake -n '__fish_seen_subcommand_from symbolize' -l debug-path -x -a '(__fish_complete_directories)' -d 'Folders with debug files'
complete -c heapwake -n '__fish_seen_subcommand_from symbolize' -l maps -r -F -d 'Copy of /proc/PID/maps'
complete -c heapwake -n '__fish_seen_subcommand_from symbolize' -l perf-map -r -F -d 'Names of code made at run time'
complete -c heapwake -n '__fish_seen_subcommand_from symbolize' -l debuginfod -d 'Ask debuginfod servers'
complete -c heapwake -n '__fish_seen_subcommand_from extract' -s C -x -a '(__fish_complete_directories)' -d 'Below this folder'
complete -c heapwake -n '__fish_seen_subcommand_from extract' -l list -d 'Only say what there is'
complete -c heapwake -n '__fish_seen_subcommand_from extract' -l force -d 'Replace files that are there'
complete -c heapwake -n '__fish_seen_subcommand_from help' -a 'record info dump verify symbolize extract'
complete -c heapwake -n '__fish_seen_subcommand_from info dump verify symbolize extract' -k -a '(__fish_complete_suffix .wake)'
