#!/bin/sh
# Unpacks packages of Debian 13 for arm64, with all that they depend on, into a folder; installs nothing.
#   compat/unpack.sh ROOT PACKAGE…
#   ARCHITECTURE=amd64   for another architecture
# ROOT/usr is then what a machine would have. apt works in a state of its own (ROOT.apt), reads the suite from the
# server that this machine's own sources name, and takes only what Debian's archive keys have signed. What has been
# fetched or unpacked stays, so an interrupted run goes on where it stopped.
set -eu
suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
architecture=${ARCHITECTURE:-arm64}

say() { echo "unpack: $*"; }
fail() {
    echo "unpack: $*" >&2
    exit 1
}

[ $# -ge 2 ] || fail "usage: compat/unpack.sh ROOT PACKAGE…"
mkdir -p "$1"
root=$(cd "$1" && pwd)
shift
state=$root.apt

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    fail "apt-get and dpkg-deb are needed: this is no Debian system"
[ -r $keyring ] || fail "$keyring is missing: install debian-archive-keyring"
done_list=$root/.unpacked
wanted=$(printf '%s\n' "$@" | sort -u)
if [ -r "$done_list/complete" ] && [ "$(cat "$done_list/complete")" = "$wanted" ]; then
    say "$root is complete"
    exit 0
fi

# The machine's own source of Debian, not of its security updates or of others.
server=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Identifier: Packages' | sed -n 's/^Debian //p' | sort -u | head -n 1)
[ -n "$server" ] || fail "no source of Debian among this machine's apt sources (run apt-get update once, if there is one)"

mkdir -p "$done_list" "$state/none" "$state/lists/partial" "$state/archives/partial"
: >"$state/status"
echo "deb [signed-by=$keyring] $server $suite main" >"$state/sources.list"
cat >"$state/apt.conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Cache::archives "$state/archives";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "$state/none";
Dir::Etc::preferencesparts "$state/none";
Debug::NoLocking "true";
CONF
apt() {
    APT_CONFIG=$state/apt.conf apt-get -q "$@"
}

say "reading the packages of $suite"
apt update >"$state/log" 2>&1 && ! grep -q '^[WE]: ' "$state/log" || {
    tail -n 5 "$state/log" >&2
    fail "the lists of packages could not be fetched: no network, or a signature is wrong"
}
apt install --print-uris -y "$@" >"$state/plan" 2>"$state/log" || {
    tail -n 5 "$state/log" >&2
    fail "$suite does not have all of: $*"
}

# Lines are: 'address' file bytes hash. Unpacked files take four to five times as much as fetched ones.
grep "^'" "$state/plan" >"$state/fetched" || : # nothing is left to fetch
fetch_kib=$(awk '{ sum += $3 } END { printf "%d", sum / 1024 }' "$state/fetched")
free_kib=$(df -Pk "$root" | awk 'NR == 2 { print $4 }')
[ "$free_kib" -gt $((fetch_kib * 6)) ] ||
    fail "$((fetch_kib * 6 / 1024)) MB are needed in $root, and $((free_kib / 1024)) MB are free"
say "fetching $(wc -l <"$state/fetched") packages, $((fetch_kib / 1024)) MB"
apt install --download-only -y "$@" >"$state/log" 2>&1 || {
    tail -n 5 "$state/log" >&2
    fail "not everything could be fetched: run it again to go on"
}

mkdir -p "$root/usr/lib"
[ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
count=$(find "$state/archives" -name '*.deb' | wc -l)
number=0
for package in "$state/archives"/*.deb; do
    number=$((number + 1))
    stamp=$done_list/$(basename "$package")
    [ -e "$stamp" ] && continue
    [ $((number % 50)) -ne 0 ] || say "unpacking $number of $count"
    dpkg-deb -x "$package" "$root" && dpkg-deb --fsys-tarfile "$package" | tar -t >"$stamp.new" ||
        fail "$package could not be unpacked: is the disk full?"
    mv "$stamp.new" "$stamp" # the package's files
done

# Links that packages make when they are installed.
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
for name in openblas-pthread/libblas.so.3 openblas-pthread/liblapack.so.3 openblas-pthread/libopenblas.so.0 \
    blis-pthread/libblis.so.4; do
    [ ! -e "$libraries/$name" ] || ln -sfn "$name" "$libraries/$(basename "$name")"
done
echo "$wanted" >"$done_list/complete"
rm -rf "$state/archives"
say "$root is complete: $count packages"
