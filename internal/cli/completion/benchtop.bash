# Completion of benchtop for bash: the program itself says what a word may become.
_benchtop() {
  local line=${COMP_LINE:0:COMP_POINT} word found=() IFS=$' \t\n'
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[-1]}
  local prefix=${word%"${COMP_WORDS[COMP_CWORD]}"} # bash cuts words at : and =
  [[ ${COMP_WORDS[COMP_CWORD]} == [:=] ]] && prefix=$word
  while IFS=$'\t' read -r one _; do
    [[ -n $one ]] && found+=("${one#"$prefix"}")
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=("${found[@]}")
}
complete -o default -F _benchtop benchtop
