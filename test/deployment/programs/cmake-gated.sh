#!/bin/sh
# Stands in for cmake and the compiler behind it. The build continues when the test says so, by files in its home, and
# its results are the files `whisper-cli` and `whisper-host` there.
wait_for() { until [ -e "$HOME/$1" ]; do [ -d "$HOME" ] || exit 1; sleep 0.02; done; } # it outlives a SIGKILL of the service
[ "$1" = --build ] || exit 0
echo '[ 10%] Building CXX object one.o'
wait_for half-built
echo '[ 50%] Building CXX object two.o'
wait_for built
program="$4"
mkdir -p "$2/bin"
cp "$HOME/$program" "$2/bin/$program" && chmod 755 "$2/bin/$program"
echo "[100%] Built target $program"
