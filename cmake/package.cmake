# `make deb`: a Debian package of what `make install` installs, by CPack. What it links with is found by dpkg-shlibdeps; what it runs (clang, and
# LLVM's archiver for link-time optimisation) is named here.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME blackout)
set(CPACK_PACKAGE_VENDOR "The Blackout authors")
set(CPACK_PACKAGE_CONTACT "The Blackout authors <blackout@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds crash-consistency bugs in persistent-memory programs")
set(CPACK_PACKAGE_DESCRIPTION
    "Blackout runs a program once, works out every state that a power failure could have left in persistent memory,
restarts the program on those that matter, and says what breaks, where and why.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-19, llvm-19")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gdb, libclang-rt-19-dev")
include(CPack)
