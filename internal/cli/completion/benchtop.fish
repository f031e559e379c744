# Completion of benchtop for fish: the program itself says what a word may become.
function __benchtop_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c benchtop -f -n 'test (count (__benchtop_complete)) -gt 0' -a '(__benchtop_complete)'
complete -c benchtop -F -n 'test (count (__benchtop_complete)) -eq 0'
