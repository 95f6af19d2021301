# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of heapwake's commands, options and files for bash.

# The place of the recorded program's first word, or nothing while it has not come.
_heapwake_program_at()
{
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)) && return ;;
        -o | --output | --children | --symbols | --enabled | --depth | --mmap | --pool | --sigusr1 | --sigusr2 | --log | --logfile | \
            --cull-ms | --cull-pending | --max-size | --sample | --rotate) ((i++)) ;;
        -*) ;;
        *) echo "$i" && return ;;
        esac
    done
}

# Keys of conditions; the value is the user's.
_heapwake_where()
{
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -S = -W "$("${COMP_WORDS[0]}" help where 2>/dev/null |
        sed -n 's/^  \([a-z0-9-]*\)=.*/\1/p')" -- "$1")
}

_heapwake_record()
{
    local current=$1 previous=$2 at
    at=$(_heapwake_program_at)
    if [[ -n $at ]]; then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$at"
        elif ((at == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        return
    fi
    case $previous in
    -o | --output | --logfile) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --children | --symbols | --enabled | --mmap) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$current") ;;
    --log) mapfile -t COMPREPLY < <(compgen -W 'trace debug info warn error' -- "$current") ;;
    --sigusr1 | --sigusr2) mapfile -t COMPREPLY < <(compgen -W 'toggle report tag' -- "$current") ;;
    --depth | --pool | --cull-ms | --cull-pending | --max-size | --sample | --rotate) ;;
    *)
        if [[ $current == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '-o --output --children --symbols --embed-binaries --enabled --depth --mmap --map-usage
                --free-stacks --precise-timestamps --zero-memory --pool --sigusr1 --sigusr2 --log --logfile --cull --cull-ms
                --cull-pending --max-size --sample --rotate -q --quiet --help --' -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        fi
        ;;
    esac
}

_heapwake()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'record report export import diff check history ctl info dump verify symbolize extract strip replay anonymize merge help version --help --version' -- "$current")
        return
    fi
    case ${COMP_WORDS[1]} in
    record) _heapwake_record "$current" "$previous" && return ;;
    report)
        case $previous in
        --by) mapfile -t COMPREPLY < <(compgen -W 'function line module file thread kind process' -- "$current") && return ;;
        --sort) mapfile -t COMPREPLY < <(compgen -W 'peak-rss size time address' -- "$current") && return ;;
        --worst) mapfile -t COMPREPLY < <(compgen -W 'rss peak leaked' -- "$current") && return ;;
        --suppressions) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
        --without) mapfile -t COMPREPLY < <(compgen -W 'function~ source~ module~' -- "$current") && return ;;
        --where) _heapwake_where "$current" && return ;;
        --callers | --callees | -n | --threshold | --include | --exclude | --at | --from | --to | --pid | --earlier | --since | --until | --depth) return ;;
        esac
        options='--leaks --peak --allocated --calls --temporary --at --since --until --depth --histogram --maps --sort --reverse --pools --verdict --details --misuse --advice --without --earlier
            --by --tree --top-down --callers --callees -n --threshold
            --from --to --pid --where --include --exclude --worst --wrapper --suppressions --no-built-in-suppressions --json --help'
        ;;
    export)
        case $previous in
        -f | --format) mapfile -t COMPREPLY < <(compgen -W 'callgrind csv dhat dot flamegraph folded gprof2dot heaptrack html json massif pdf perfetto pprof ps speedscope sqlite svg' -- "$current") && return ;;
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
        --anonymize) mapfile -t COMPREPLY < <(compgen -W 'partial full' -- "$current") && return ;;
        --where) _heapwake_where "$current" && return ;;
        --from | --to | --pid) return ;;
        esac
        options='-f --format -o --output --anonymize --peak --leaks --allocated --calls --temporary --from --to --pid --where --help'
        ;;
    import)
        case $previous in
        -f | --format) mapfile -t COMPREPLY < <(compgen -W 'dhat gperftools heaptrack jemalloc massif memtraq mtrace pprof' -- "$current") && return ;;
        --symbols) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$current") && return ;;
        --max-blocks) return ;;
        --sysroot | --debug-path)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$current") && return
            ;;
        esac
        if [[ $current == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '-f --format -o --output --symbols --sysroot --debug-path --max-blocks -q --quiet --help' -- "$current")
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        return
        ;;
    diff)
        case $previous in
        --suppressions | --svg) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
        --where) _heapwake_where "$current" && return ;;
        -n | --from | --to | --pid) return ;;
        esac
        options='--leaks --peak --allocated --calls --temporary -n --svg --from --to --pid --where --wrapper --suppressions
            --no-built-in-suppressions --json --help'
        ;;
    check)
        case $previous in
        --suppressions | --config | --junit | --markdown | -o | --output | --max-growth-vs)
            mapfile -t COMPREPLY < <(compgen -f -- "$current") && return
            ;;
        --max-peak | --max-leak | --max-leak-per-site | --max-allocations) return ;;
        esac
        options='--max-peak --max-leak --max-leak-per-site --max-allocations --max-growth-vs --config --suppressions
            --no-built-in-suppressions --junit --markdown -o --output --json --help --'
        ;;
    history) options='--pid --json --help' ;;
    ctl)
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current")
        elif ((COMP_CWORD == 3)); then
            mapfile -t COMPREPLY < <(compgen -W 'enable disable toggle tag report status stop' -- "$current")
        elif [[ ${COMP_WORDS[3]} == report ]]; then
            mapfile -t COMPREPLY < <(compgen -W '--depth' -- "$current"; compgen -f -- "$current")
        fi
        return
        ;;
    info) options='--json --help' ;;
    dump) options='--tsv --stacks --help' ;;
    verify) options='--help' ;;
    symbolize) options='--sysroot --debug-path --maps --perf-map --debuginfod --embed-binaries --help' ;;
    extract) options='-C --list --force --help' ;;
    strip) options='--threshold -o --output --help' ;;
    replay)
        case $previous in
        --allocators) mapfile -t COMPREPLY < <(compgen -W 'glibc jemalloc tcmalloc mimalloc' -- "$current") && return ;;
        --touch) mapfile -t COMPREPLY < <(compgen -W 'all first none' -- "$current") && return ;;
        --process | --pid | --runs) return ;;
        esac
        options='--allocators --process --pid --touch --runs --json --help'
        ;;
    anonymize | merge)
        case $previous in
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
        --level) mapfile -t COMPREPLY < <(compgen -W 'partial full' -- "$current") && return ;;
        esac
        options='-o --output --help'
        [[ ${COMP_WORDS[1]} == anonymize ]] && options+=' --level'
        ;;
    help) mapfile -t COMPREPLY < <(compgen -W 'record report export import diff check history ctl info dump verify symbolize extract strip replay anonymize merge where' -- "$current") && return ;;
    version) return ;;
    esac
    case "${COMP_WORDS[1]} $previous" in
    'extract -C' | 'symbolize --sysroot' | 'symbolize --debug-path')
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    'symbolize --maps' | 'symbolize --perf-map') # --maps of report takes no value
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(
            compgen -d -- "$current"
            compgen -f -X '!*.wake' -- "$current"
            compgen -f -X '!*.spool' -- "$current"
        )
    fi
}

complete -F _heapwake heapwake
