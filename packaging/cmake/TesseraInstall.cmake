# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and the packages of `cpack` contain. Two components: `tessera` (programs, guide,
# service) and `dev` (the rank library for programs of one's own).
set(CMAKE_INSTALL_DOCDIR share/doc/tessera)  # not share/doc/Tessera, as the module would take it
include(GNUInstallDirs)

# ---- programs
install(TARGETS tesseractl tessera-agent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tessera)
if(TESSERA_WITH_TRAINER)
  install(TARGETS tessera-train RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tessera)
endif()
if(TESSERA_WITH_UI)
  install(TARGETS tessera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tessera)
  install(FILES packaging/desktop/org.tessera.Tessera.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT tessera)
  install(FILES packaging/desktop/org.tessera.Tessera.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo COMPONENT tessera)
  install(FILES packaging/desktop/tessera.svg
          DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT tessera)
  # The icon in pixels, for desktops that draw no SVG.
  set(icon_sizes 16 24 32 48 64 128 256 512)
  set(icon_folder ${CMAKE_BINARY_DIR}/generated/icons)
  list(TRANSFORM icon_sizes REPLACE "(.+)" "${icon_folder}/\\1.png" OUTPUT_VARIABLE icon_files)
  add_executable(tessera_draw_icons app/draw_icons.cpp)
  target_link_libraries(tessera_draw_icons PRIVATE Qt6::Gui Qt6::Svg)
  set_target_properties(tessera_draw_icons PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${icon_files}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${icon_folder}
    COMMAND tessera_draw_icons ${CMAKE_SOURCE_DIR}/packaging/desktop/tessera.svg ${icon_folder} ${icon_sizes}
    DEPENDS tessera_draw_icons packaging/desktop/tessera.svg
    COMMENT "Drawing icons"
    VERBATIM)
  add_custom_target(icons ALL DEPENDS ${icon_files})
  foreach(size IN LISTS icon_sizes)
    install(FILES ${icon_folder}/${size}.png DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/${size}x${size}/apps
            RENAME tessera.png COMPONENT tessera)
  endforeach()
endif()

# ---- man pages and completions, written by the command line itself
set(generated ${CMAKE_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${generated}/completion/tesseractl ${generated}/completion/_tesseractl
         ${generated}/completion/tesseractl.fish ${generated}/man/tesseractl.1.gz
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${generated}/man  # pages of verbs that are no more
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/completion ${generated}/man
  COMMAND tesseractl completion bash > ${generated}/completion/tesseractl
  COMMAND tesseractl completion zsh > ${generated}/completion/_tesseractl
  COMMAND tesseractl completion fish > ${generated}/completion/tesseractl.fish
  COMMAND tesseractl manual ${generated}/man --quiet
  COMMAND sh -c "gzip -9n ${generated}/man/*.1"
  DEPENDS tesseractl
  COMMENT "Writing man pages and shell completions"
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${generated}/man/tesseractl.1.gz)
set(data ${CMAKE_INSTALL_DATADIR})
install(DIRECTORY ${generated}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tessera)
install(FILES ${generated}/completion/tesseractl
        DESTINATION ${data}/bash-completion/completions COMPONENT tessera)
install(FILES ${generated}/completion/_tesseractl DESTINATION ${data}/zsh/vendor-completions COMPONENT tessera)
install(FILES ${generated}/completion/tesseractl.fish
        DESTINATION ${data}/fish/vendor_completions.d COMPONENT tessera)

# ---- service
# A unit names its program by the whole path, and only the installation knows the prefix: `cpack` installs
# to /usr, whatever prefix was configured.
install(CODE "
  set(BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  set(DOCDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  configure_file(\"${CMAKE_SOURCE_DIR}/packaging/systemd/tessera-agent.service.in\"
                 \"${generated}/tessera-agent.service\" @ONLY)" COMPONENT tessera)
install(FILES ${generated}/tessera-agent.service DESTINATION lib/systemd/system COMPONENT tessera)
install(FILES packaging/systemd/tessera.conf DESTINATION lib/sysusers.d COMPONENT tessera)

# ---- documents
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tessera)
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tessera)
add_custom_command(
  OUTPUT ${generated}/changelog.gz
  COMMAND sh -c "gzip -9nc ${CMAKE_SOURCE_DIR}/packaging/debian/tessera.changelog > ${generated}/changelog.gz"
  DEPENDS packaging/debian/tessera.changelog
  VERBATIM)
add_custom_target(changelog ALL DEPENDS ${generated}/changelog.gz)
foreach(component tessera dev)
  set(package tessera)
  if(component STREQUAL dev)
    set(package tessera-dev)
  endif()
  install(FILES packaging/debian/copyright ${generated}/changelog.gz DESTINATION ${data}/doc/${package} COMPONENT ${component})
  install(FILES packaging/debian/${package}.lintian-overrides DESTINATION ${data}/lintian/overrides
          RENAME ${package} COMPONENT ${component})
endforeach()
install(DIRECTORY resources/guide DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tessera FILES_MATCHING
        PATTERN "*.md" PATTERN "*.png")
# The example includes the header as it is installed.
file(READ agents/job/example.c example)
string(REPLACE "\"agents/job/tessera_job.h\"" "<tessera/tessera_job.h>" example "${example}")
file(CONFIGURE OUTPUT ${generated}/example.c CONTENT "${example}" @ONLY)
install(FILES ${generated}/example.c agents/job/example.tensors.json agents/job/example.rules.json
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT tessera)

# ---- the package for Python: `job start SCRIPT` names its folder in PYTHONPATH
install(DIRECTORY agents/python/tessera DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/python COMPONENT tessera
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY agents/python/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/python COMPONENT tessera
        FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

# ---- Slurm
install(PROGRAMS packaging/slurm/tessera-slurm packaging/slurm/tessera.sbatch
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/slurm COMPONENT tessera)
install(DIRECTORY packaging/slurm/tessera_slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/slurm COMPONENT tessera
        FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE PATTERN ".mypy_cache" EXCLUDE)

# ---- the rank library
install(TARGETS tessera_job EXPORT tessera-job
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tessera NAMELINK_COMPONENT dev
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES agents/job/tessera_job.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT dev)
configure_file(packaging/pkgconfig/tessera-job.pc.in ${generated}/tessera-job.pc @ONLY)
install(FILES ${generated}/tessera-job.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
include(CMakePackageConfigHelpers)
configure_package_config_file(packaging/cmake/TesseraJobConfig.cmake.in ${generated}/TesseraJobConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/TesseraJob
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${generated}/TesseraJobConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/TesseraJobConfig.cmake ${generated}/TesseraJobConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/TesseraJob COMPONENT dev)

# ---- packages
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_CONTACT "Tessera developers <tessera@localhost>")
set(CPACK_PACKAGE_VENDOR Tessera)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tessera dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_TESSERA_PACKAGE_NAME tessera)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME tessera-dev)
set(CPACK_COMPONENT_DEV_DEPENDS tessera)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "moves training jobs between GPUs while they run")
set(CPACK_COMPONENT_TESSERA_DESCRIPTION "Tessera keeps the state of a training job outside the job, and moves it to
other GPUs and another parallel configuration without a restart. This
package has the control panel, the command line, the node agent and the
built-in training job.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "This package has the header of the rank library, for programs that keep
their state in Tessera.")
set(CPACK_DEBIAN_TESSERA_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Plugins and programs that no library dependency names.
set(CPACK_DEBIAN_TESSERA_PACKAGE_DEPENDS "libqt6svg6, fonts-inter, libopenblas0-pthread, python3")
set(CPACK_DEBIAN_TESSERA_PACKAGE_RECOMMENDS "fuse3, qt6-translations-l10n")
set(CPACK_DEBIAN_TESSERA_PACKAGE_SUGGESTS "openssh-client")
set(CPACK_DEBIAN_TESSERA_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/packaging/debian/postinst;${CMAKE_SOURCE_DIR}/packaging/debian/prerm;${CMAKE_SOURCE_DIR}/packaging/debian/postrm;${CMAKE_SOURCE_DIR}/packaging/debian/triggers")
include(CPack)
