#!/bin/sh
# tests/spills.sh OBJDUMP OBJECT…: no innermost loop of a matrix-multiplication kernel may touch the
# stack: an accumulator that is spilled there costs more than the arithmetic it serves.
# With VERBOSE=1 prints every such loop: its multiply-adds, its instructions, and their ratio.
set -u
objdump=$1
shift
"$objdump" -d --no-show-raw-insn "$@" | awk -v verbose="${VERBOSE:-}" '
    function hex(text, value, i) {
        value = 0
        for (i = 1; i <= length(text); i++)
            value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
        return value
    }
    /^[0-9a-f]+ <.*>:$/ {
        name = substr($2, 2, length($2) - 3)
        start = hex($1)
        count = 0
        last_loop = -1
        next
    }
    /^ +[0-9a-f]+:\t/ {
        text[count] = $0
        line = $0
        count++
        # a branch back within the function closes a loop; it is innermost if none closed inside
        if ($2 !~ /^(b|b\..*|cbn?z|tbn?z)$/ || !match(line, /[0-9a-f]+ <[^>]*>/))
            next
        split(substr(line, RSTART, RLENGTH), word, " ")
        target = (hex(word[1]) - start) / 4
        if (target < 0 || target >= count || target <= last_loop)
            next
        last_loop = count - 1
        fmla = stack = 0
        for (i = target; i < count; i++) {
            fmla += text[i] ~ /\tfmla\t/
            stack += text[i] ~ /\[sp[],]/
        }
        if (!fmla)
            next
        loops++
        spilled += stack > 0
        if (stack || verbose)
            printf "%-36s %3d fmla %4d instructions %.3f, %d on the stack\n", name, fmla,
                count - target, (count - target) / fmla, stack
    }
    END {
        printf "spills: %d loops, %d touch the stack\n", loops, spilled
        exit spilled > 0 || loops == 0
    }'
