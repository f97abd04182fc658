#!/bin/sh
# tests/install.sh MAKE-VARIABLES…: what `make install` writes serves a stranger: README's program and examples are built
# outside of the tree with pkg-config, against the shared and the static library, and run; DESTDIR is honoured; `make uninstall`
# leaves nothing. Each of them counts as a test.
set -u
cd "$(dirname "$0")/.."
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
passed=0 failed=0

expect() { # NAME, then a command
    name=$1
    shift
    if "$@" >"$there/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "  install: not so: $name"
        sed 's/^/    /' "$there/log"
    fi
}
flags() { PKG_CONFIG_PATH="$there/prefix/lib/pkgconfig" pkg-config "$@" neoprene; }
build() { # EXAMPLE PROGRAM, then flags
    example=$1 program=$2
    shift 2
    cc -std=c11 -D_GNU_SOURCE -o "$there/$program" "$there/$example.c" $(flags --cflags) "$@" -lm
}
runs() { LD_LIBRARY_PATH="$there/prefix/lib" "$there/$1"; }
is_empty() { [ -z "$(find "$1" ! -type d)" ]; }

quiet="make -s --no-print-directory"
expect 'make install succeeds' $quiet install PREFIX="$there/prefix" "$@"
cp examples/matmul.c examples/convolution.c "$there"
awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' README.md >"$there/readme.c"
for example in matmul convolution readme; do
    expect "$example builds with the shared library" build $example $example-shared $(flags --libs)
    expect "$example runs with the shared library" runs $example-shared
    expect "$example builds with the static library" build $example $example-static \
        $(flags --static --libs | sed 's/-lneoprene/-l:libneoprene.a/')
    expect "$example runs with the static library" runs $example-static
done
expect "README's program prints what README says" test "$(runs readme-shared | paste -sd,)" = \
    "$(sed -n 's/^It prints `\(.*\)` and `\([^`]*\)`.*/\1,\2/p' README.md)"
expect 'pkg-config tells the version of the headers' test "$(flags --modversion)" = \
    "$(printf '#include <neoprene/types.h>\nNEO_VERSION_MAJOR.NEO_VERSION_MINOR.NEO_VERSION_PATCH\n' |
        cc -E -P $(flags --cflags) - | tail -n 1 | tr -d ' ')"
cat >"$there/both.cpp" <<'EOF'
#include <neoprene/neoprene.h>
#if !NEO_VERSION_AT_LEAST(0, 2, 0) || NEO_VERSION_AT_LEAST(9, 0, 0)
#error these are other headers
#endif
int main()
{
    neo_dim dims[] = {NEO_RUNTIME_DIM, 4};
    neo_memory_desc desc;
    return neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "ab") != NEO_OK || NEO_MEMORY_ALLOCATE == nullptr;
}
EOF
for standard in 17 20; do
    expect "a C++$standard program builds without warnings" c++ -std=c++$standard -Wall -Wextra -Wpedantic \
        -Wold-style-cast -Werror $(flags --cflags) -o "$there/cpp$standard" "$there/both.cpp" $(flags --libs)
    expect "a C++$standard program runs" runs cpp$standard
done
if command -v cmake >/dev/null; then
    mkdir "$there/project"
    cp "$there/readme.c" "$there/both.cpp" "$there/project"
    cat >"$there/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(stranger C CXX)
find_package(neoprene 0.2 REQUIRED)
foreach(kind neoprene static)
  add_executable(readme-${kind} readme.c)
  target_link_libraries(readme-${kind} PRIVATE neoprene::${kind})
  add_executable(both-${kind} both.cpp)
  target_link_libraries(both-${kind} PRIVATE neoprene::${kind})
endforeach()
find_package(neoprene 9 QUIET)
if(neoprene_FOUND)
  message(FATAL_ERROR "version 9 is found")
endif()
EOF
    expect 'CMake finds the package, and no version that is not there' cmake -S "$there/project" \
        -B "$there/cmake" -DCMAKE_PREFIX_PATH="$there/prefix"
    expect 'CMake builds with both libraries' cmake --build "$there/cmake"
    for kind in neoprene static; do
        for program in readme both; do
            expect "$program of CMake runs with neoprene::$kind" "$there/cmake/$program-$kind"
        done
    done
else
    echo '  install: there is no cmake; its package files are not tried' >&2
fi
expect 'the installed tool runs' "$there/prefix/bin/neoprene-weights" --help
expect 'make uninstall succeeds' $quiet uninstall PREFIX="$there/prefix" "$@"
expect 'make uninstall leaves no file' is_empty "$there/prefix"
expect 'make install honours DESTDIR' $quiet install DESTDIR="$there/stage" PREFIX=/usr "$@"
expect 'the headers are under DESTDIR' test -f "$there/stage/usr/include/neoprene/neoprene.h"
expect 'the paths in the pkg-config file are without DESTDIR' grep -qx 'prefix=/usr' \
    "$there/stage/usr/lib/pkgconfig/neoprene.pc"
expect 'make uninstall honours DESTDIR' $quiet uninstall DESTDIR="$there/stage" PREFIX=/usr "$@"
expect 'make uninstall leaves no file under DESTDIR' is_empty "$there/stage"

case $(uname -m) in
aarch64 | arm64) ;;
*)
    refuses() { make -s -j1 install TARGET=aarch64 2>&1 | grep 'say where'; }
    expect "another processor's files have no place by default" refuses
    expect 'tools that run here are installed beside them' $quiet install-tools TARGET=portable PREFIX="$there/tools"
    expect 'they run' "$there/tools/bin/neoprene-weights" --help
    expect 'and nothing else is' test ! -e "$there/tools/lib"
    ;;
esac

[ -n "${COUNTS:-}" ] && echo "$passed $failed 0" >>"$COUNTS"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
