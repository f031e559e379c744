#compdef benchtop
# Completion of benchtop for zsh: the program itself says what a word may become.
_benchtop() {
  local -a found
  local one about
  while IFS=$'\t' read -r one about; do
    found+=("${one//:/\\:}${about:+:$about}")
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then
    _describe -t values benchtop found
  else
    _files
  fi
}
if [[ $funcstack[1] == _benchtop ]]; then _benchtop "$@"; else compdef _benchtop benchtop; fi
