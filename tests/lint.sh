#!/bin/sh
# Static analysis of the library, of benchdnn and of the examples: clang-tidy and cppcheck; of the scripts: pyflakes. And
# docs/environment.md has every variable that is read. No findings allowed.
set -u
cd "$(dirname "$0")/.."
status=0

flags='-std=c11 -D_GNU_SOURCE -DNEO_PORTABLE=1 -Iinclude -I.'
files=$(find src arch benchdnn examples tools -name '*.c'; find kernels -name '*ref.c' -o -name '*_generic.c')

echo "clang-tidy: $(echo "$files" | wc -w) files"
echo "$files" | xargs -n 4 -P "$(nproc)" sh -c 'clang-tidy --quiet "$@" -- '"$flags"' 2>/dev/null' _ || status=1

# Its description of mmap() does not know that -1 stands for no file.
echo 'cppcheck'
cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
    --inline-suppr --suppress=missingIncludeSystem --suppress=invalidFunctionArg --library=posix -j "$(nproc)" -DNEO_PORTABLE=1 -D_GNU_SOURCE -Iinclude -I. $files || status=1

echo 'pyflakes'
pyflakes3 $(find * -path build -prune -o -name '*.py' -print) || status=1

echo 'environment variables'
for name in $(grep -rhoE '"NEO(PRENE)?_[A-Z_]+"' src arch benchdnn --include='*.c' | tr -d '"' | sort -u); do
    grep -q "\`$name\`" docs/environment.md || { echo "docs/environment.md has no $name"; status=1; }
done
exit $status
