# What is installed, the reference of the headers, an archive of the sources.
PLACE := $(PREFIX)$(DESTDIR)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
CMAKE_FILES := neoprene-config.cmake neoprene-config-version.cmake
.PHONY: install install-tools install-place uninstall docs dist clean
$(if $(Q),.SILENT: install install-tools uninstall)
install: install-place $(LIB_A) $(LIB_SO) install-tools ## headers, libraries, tools, files for pkg-config and CMake (PREFIX, DESTDIR)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/neoprene
	install -m 644 include/neoprene/*.h $(DESTDIR)$(INCLUDEDIR)/neoprene
	install -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)
	ln -sf libneoprene.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libneoprene.so.$(SOVERSION)
	ln -sf libneoprene.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libneoprene.so
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' 'Name: neoprene' \
	    'Description: convolution and matrix-multiplication primitives for AArch64' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lneoprene' 'Libs.private: $(LIBS) -pthread' \
	    > $(DESTDIR)$(LIBDIR)/pkgconfig/neoprene.pc
	install -d $(DESTDIR)$(LIBDIR)/cmake/neoprene
	for name in $(CMAKE_FILES); do sed -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	    -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@LIBS@|$(subst $(space),;,$(LIBS))|' tools/cmake/$$name.in \
	    > $(DESTDIR)$(LIBDIR)/cmake/neoprene/$$name || exit 1; done
	echo '  neoprene $(VERSION) ($(TARGET)) is in $(DESTDIR)$(PREFIX): PKG_CONFIG_PATH=$(LIBDIR)/pkgconfig LD_LIBRARY_PATH=$(LIBDIR)'
	[ -z '$(CROSS)' ] || echo '  tools are for $(TARGET), too; those for this machine: make install-tools TARGET=portable PREFIX=$(PREFIX)'
install-tools: install-place $(TOOLS) ## the tools alone: with TARGET=portable they run on this machine, whatever the library is for
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install -m 755 $(TOOLS) $(DESTDIR)$(BINDIR)
	install -m 644 docs/*.1 $(DESTDIR)$(MANDIR)/man1
install-place: # another processor's files go among this machine's own only where that is asked for
	$(Q)[ -z '$(CROSS)' ] || [ -n '$(PLACE)' ] || \
	    { echo 'install: these files are for $(TARGET), not for this machine: say where (PREFIX=, DESTDIR=)'; exit 1; }
uninstall: ## remove what install wrote
	rm -rf $(DESTDIR)$(INCLUDEDIR)/neoprene $(DESTDIR)$(LIBDIR)/libneoprene.a \
	    $(DESTDIR)$(LIBDIR)/libneoprene.so* $(DESTDIR)$(LIBDIR)/cmake/neoprene $(DESTDIR)$(LIBDIR)/pkgconfig/neoprene.pc \
	    $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(TOOLS))) $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(wildcard docs/*.1)))
docs: ## the reference of the public headers, build/docs/html (doxygen)
	@mkdir -p build/docs
	$(Q)command -v doxygen > /dev/null || { echo 'docs: doxygen is not installed'; exit 1; }
	$(Q)NEO_VERSION=$(VERSION) doxygen docs/Doxyfile && echo '  build/docs/html/index.html'
DIST := neoprene-$(VERSION)
dist: ## an archive of this version's sources in build/
	@mkdir -p build
	$(Q)git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -9n > build/$(DIST).tar.gz
	@echo '  build/$(DIST).tar.gz'
clean: ## remove the build folder
	rm -rf build
