#!/bin/sh
# Stands in for a whisper-cli that takes its output from the test: from the FIFO `output` beside its model. It waits
# without a child of its own: systemd 252 gives up killing a control group in which a process is just ending.
while [ $# -gt 0 ]; do
  case "$1" in
    -m) model=$2 ;;
    -of) out=$2 ;;
  esac
  shift
done
read -r output <"$(dirname "$model")/output"
echo "$output" >"$out.json"
