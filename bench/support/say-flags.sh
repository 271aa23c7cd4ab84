#!/bin/sh
# Stands in for ffmpeg: the sound that it decodes is the flags that it was given. It stays for a moment, as ffmpeg does.
echo "$@"
sleep 0.5
