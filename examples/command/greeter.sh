#!/usr/bin/env bash
# An agent in bash: reads the turn, writes an event on each line.
set -euo pipefail

read -r turn
# The text is the only member that is needed here. A JSON reader such as `jq -r .text` would do as well.
text=$(sed -n 's/.*"text":"\([^"]*\)","message":.*/\1/p' <<<"$turn")
name=${text#greet}
name=${name# }

if [[ -z $name ]]; then
  echo '{"type": "input_required", "text": "Whom shall I greet?"}'
  exit
fi

echo '{"type": "status", "text": "thinking of something nice"}'
for word in Good morning "$name"; do
  sleep 0.1
  echo "{\"type\": \"chunk\", \"text\": \"$word \"}"
done
echo "{\"type\": \"reply\", \"text\": \"I have greeted $name.\"}"
