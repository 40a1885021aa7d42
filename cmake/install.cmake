# Where things lie, in the build folder as below a prefix, so that the program finds its parts the same way:
#
#   bin/pondage   libexec/pondage/pondage-shim   share/pondage/python   share/man/man1   completions   the unit
#
# A moved prefix still works: every part is found from where the program lies.

include(GNUInstallDirs)

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/pondage)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python ${CMAKE_BINARY_DIR}/share/pondage/python SYMBOLIC)

# Man pages and completions are made by the program itself, from its table of commands.
set(pages ${CMAKE_BINARY_DIR}/pages)
add_custom_command(
  OUTPUT ${pages}/done
  COMMAND ${CMAKE_COMMAND} -DPONDAGE=$<TARGET_FILE:pondage> -DPAGES=${pages} -P ${CMAKE_SOURCE_DIR}/cmake/pages.cmake
  DEPENDS pondage ${CMAKE_SOURCE_DIR}/cmake/pages.cmake
  COMMENT "Writing man pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages}/done)

install(TARGETS pondage RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS pondage-shim RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/pondage)
install(DIRECTORY python/pondage DESTINATION ${CMAKE_INSTALL_DATADIR}/pondage/python
        FILES_MATCHING PATTERN "*.py")
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${pages}/pondage DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/_pondage DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/pondage.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE README.md README.zh-CN.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)
install(CODE "
  set(unit_prefix \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${CMAKE_SOURCE_DIR}/deploy/systemd/pondage.service.in\"
                 \"${CMAKE_BINARY_DIR}/pages/pondage.service\" @ONLY)")
install(FILES ${pages}/pondage.service DESTINATION lib/systemd/system)
