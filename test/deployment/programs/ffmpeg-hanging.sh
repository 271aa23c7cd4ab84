#!/bin/sh
# Stands in for an ffmpeg that is busy for a long time.
exec sleep 1000
