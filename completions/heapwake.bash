# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion for bash.  What may come next is known to `heapwake complete`.

_heapwake()
{
    local current=${COMP_WORDS[COMP_CWORD]} candidate rest word words=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        [[ $word == '=' ]] || words+=("$word") # --by=line is three words to bash
    done
    [[ $current == '=' ]] && current='' && words+=('')
    COMPREPLY=()
    while IFS=$'\t' read -r candidate rest; do
        case $candidate in
        :files)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            ;;
        :folders)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            ;;
        :recordings)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(
                compgen -d -- "$current"
                for word in wake spool partial; do
                    compgen -f -X "!*.$word" -- "$current"
                done
            )
            ;;
        ':program '*)
            _heapwake_program "$current" $((${candidate#:program } + 1))
            ;;
        "$current"*)
            [[ $candidate == *[=~] ]] && compopt -o nospace 2>/dev/null
            COMPREPLY+=("$candidate")
            ;;
        esac
    done < <("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null)
}

# $2: the place of the program's first word.
_heapwake_program()
{
    if declare -F _command_offset >/dev/null; then
        _command_offset "$2"
    elif (($2 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$1")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$1")
    fi
}

complete -F _heapwake heapwake
