# The pages that `hologram explain` and `hologram lang` print are compiled in.
set(documents language diagnostics isa graph)
list(TRANSFORM documents REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/docs/reference/\\1.md")
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/pages.c
                   COMMAND ${CMAKE_COMMAND} "-DOUT=${PROJECT_BINARY_DIR}/pages.c" "-DDOCUMENTS=${documents}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                   DEPENDS ${documents} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake ${PROJECT_SOURCE_DIR}/cmake/bytes.cmake VERBATIM)
add_library(hologram_pages OBJECT ${PROJECT_BINARY_DIR}/pages.c)
target_include_directories(hologram_pages PRIVATE ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(hologram_pages PRIVATE hg_flags)
target_link_libraries(hologram_command PRIVATE hologram_pages)

# What is installed for people beside the command: its manual page and shell completion, which the command itself writes, documents, examples.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  add_custom_command(TARGET hologram_command POST_BUILD
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
                     COMMAND hologram_command help --man > ${pages}/hologram.1
                     COMMAND hologram_command help --completion bash > ${pages}/hologram.bash
                     COMMAND hologram_command help --completion zsh > ${pages}/_hologram
                     COMMAND hologram_command help --completion fish > ${pages}/hologram.fish
                     COMMENT "manual page and shell completion")
  install(FILES ${pages}/hologram.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/hologram.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hologram)
  install(FILES ${pages}/_hologram DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${pages}/hologram.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# Documents and examples lie as in the repository, so that links from one to another lead somewhere (tests/docs/installed.py).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.webp" PATTERN "*.json")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "CMakeLists.txt" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/editor DESTINATION ${CMAKE_INSTALL_DATADIR}/hologram) # for editors (docs/howto/editors.md)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/THIRD-PARTY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
