#!/bin/sh
# Stands in for ffmpeg: the sound that it decodes is the flags that it was given, in both channels. It stays for a moment,
# as ffmpeg does.
printf '%s  ' "$*" | sed 's/../&&/g'
sleep 0.5
