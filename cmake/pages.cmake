# cmake -DPONDAGE=PROGRAM -DPAGES=FOLDER -P pages.cmake: man pages and completions of the program, into the folder.

set(ENV{PONDAGE_LANG} en)
file(REMOVE_RECURSE ${PAGES})
file(MAKE_DIRECTORY ${PAGES}/man1)

function(page file)
  execute_process(COMMAND ${PONDAGE} ${ARGN} OUTPUT_FILE ${PAGES}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

page(man1/pondage.1 man --roff)
execute_process(COMMAND ${PONDAGE} help -o name OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" commands "${commands}")
foreach(command IN LISTS commands)
  page(man1/pondage-${command}.1 man --roff ${command})
endforeach()
page(pondage completion bash)
page(_pondage completion zsh)
page(pondage.fish completion fish)
file(TOUCH ${PAGES}/done)
