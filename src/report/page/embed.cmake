# Writes OUT: the parts of the page as C++ strings. UPLOT: uPlot's folder dist; HERE: this folder.

set(text "// Made by src/report/page/embed.cmake.\n#include \"report/page_parts.h\"\n\nnamespace pondage::report {\n\n")

function(part name)
  set(whole "")
  foreach(path IN LISTS ARGN)
    file(READ ${path} bytes)
    if(bytes MATCHES "\\)PAGE\"")
      message(FATAL_ERROR "${path} holds the end of a raw string")
    endif()
    string(APPEND whole "${bytes}\n")
  endforeach()
  set(text "${text}const std::string_view ${name} = R\"PAGE(${whole})PAGE\";\n\n" PARENT_SCOPE)
endfunction()

part(kUplotScript ${UPLOT}/uPlot.iife.min.js)
part(kUplotStyle ${UPLOT}/uPlot.min.css)
part(kPageScript ${HERE}/words.js ${HERE}/page.js)
part(kPageStyle ${HERE}/page.css)
part(kPageBody ${HERE}/body.html)
file(WRITE ${OUT} "${text}}  // namespace pondage::report\n")
