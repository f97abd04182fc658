#!/bin/sh
# Fails when an #include goes up: tests → src → kernels → arch, and include/ sees nobody.
set -u
cd "$(dirname "$0")/.."
status=0

forbid() { # FOLDER PATTERN: no quoted include of a file in FOLDER may match PATTERN
    found=$(grep -rnE "^#include \"($2)" "$1" 2>/dev/null)
    [ -z "$found" ] || { echo "$found" | sed "s/^/not allowed in $1: /"; status=1; }
}
forbid include '(src|kernels|arch|tests|benchdnn|examples)/'
forbid arch '(include|neoprene|src|kernels|tests|benchdnn)/'
forbid kernels '(neoprene|src|tests|benchdnn|arch/[^c]|arch/c[^p])'
forbid src '(tests|benchdnn|tools|examples)/'
forbid benchdnn '(src|kernels|arch|tests)/'
forbid tools '(src|kernels|arch|tests|benchdnn|examples)/'
forbid examples '(src|kernels|arch|tests|benchdnn)/'
[ $status -eq 0 ] && echo 'layers: every include goes down'
exit $status
