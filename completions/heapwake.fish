# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion for fish.  What may come next is known to `heapwake complete`.

function __heapwake_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete $words[2..] 2>/dev/null)
        switch $line
            case ':files' ':recordings'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct)
            case ':program *'
                set -l at (math (string replace ':program ' '' -- $line) + 2)
                complete -C (string join ' ' -- (string escape -- $words[$at..-2]) $words[-1])
            case '*'
                echo $line
        end
    end
end

complete -c heapwake -f -a '(__heapwake_complete)'
