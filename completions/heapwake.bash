# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of heapwake's commands, options and files for bash.

# The place of the recorded program's first word, or nothing while it has not come.
_heapwake_program_at()
{
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)) && return ;;
        -o | --output | --children | --symbols | --cull-ms | --cull-pending | --max-size | --sample | --rotate) ((i++)) ;;
        -*) ;;
        *) echo "$i" && return ;;
        esac
    done
}

_heapwake_record()
{
    local current=$1 previous=$2 at
    at=$(_heapwake_program_at)
    if [[ -n $at ]]; then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$at"
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        return
    fi
    case $previous in
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --cull-ms | --cull-pending | --max-size | --sample | --rotate) ;;
    --children | --symbols) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$current") ;;
    *)
        if [[ $current == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '-o --output --children --symbols --embed-binaries -q --quiet --cull --cull-ms --cull-pending --max-size --sample --rotate --help --' -- "$current")
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
        mapfile -t COMPREPLY < <(compgen -W 'record report info dump verify symbolize extract strip help version --help --version' -- "$current")
        return
    fi
    case ${COMP_WORDS[1]} in
    record) _heapwake_record "$current" "$previous" && return ;;
    report)
        case $previous in
        --by) mapfile -t COMPREPLY < <(compgen -W 'function line module file process' -- "$current") && return ;;
        --worst) mapfile -t COMPREPLY < <(compgen -W 'rss peak leaked' -- "$current") && return ;;
        --suppressions) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
        --callers | --callees | -n | --threshold | --include | --exclude) return ;;
        esac
        options='--leaks --peak --allocated --calls --temporary --by --tree --top-down --callers --callees -n --threshold
            --include --exclude --worst --suppressions --no-built-in-suppressions --json --help'
        ;;
    info) options='--json --help' ;;
    dump) options='--tsv --stacks --help' ;;
    verify) options='--help' ;;
    symbolize) options='--sysroot --debug-path --maps --perf-map --debuginfod --embed-binaries --help' ;;
    extract) options='-C --list --force --help' ;;
    strip) options='--threshold -o --output --help' ;;
    help) mapfile -t COMPREPLY < <(compgen -W 'record report info dump verify symbolize extract strip' -- "$current") && return ;;
    version) return ;;
    esac
    case $previous in
    -C | --sysroot | --debug-path)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    --maps | --perf-map)
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
