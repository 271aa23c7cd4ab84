#!/bin/sh
# Stands in for cmake and the compiler behind it. The build goes on when the test says so, by files in its home, and
# its result is the file `whisper-cli` there.
wait_for() { until [ -e "$HOME/$1" ]; do sleep 0.02; done; }
[ "$1" = --build ] || exit 0
echo '[ 10%] Building CXX object one.o'
wait_for half-built
echo '[ 50%] Building CXX object two.o'
wait_for built
mkdir -p "$2/bin"
cp "$HOME/whisper-cli" "$2/bin/whisper-cli" && chmod 755 "$2/bin/whisper-cli"
echo '[100%] Built target whisper-cli'
