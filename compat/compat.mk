# Other libraries' interfaces on Neoprene, and the programs that use them.

# Packages of Debian 13 for arm64, unpacked into folders of their own; compat/packages/ has a list for each purpose.
# Those for this machine, whatever it is, are for the portable build.
CLIENTS_ROOT := build/clients
NATIVE := $(shell dpkg --print-architecture 2>/dev/null)
NATIVE_ROOT := build/clients-$(NATIVE)
PEERS_ROOT := build/peers
packages_of = $(shell grep -v '^\#' compat/packages/$(1))
.PHONY: clients peers
clients: ## unpack arm64 programs that use oneDNN and BLAS (PyTorch, ONNX Runtime, numpy): 240 MB to fetch, 1.1 GB unpacked
	$(Q)compat/unpack.sh $(CLIENTS_ROOT) $(call packages_of,clients)
peers: ## unpack arm64 libraries to compare with (OpenBLAS, BLIS, XNNPACK, ACL, KleidiAI, oneDNN, ONNX Runtime)
	$(Q)compat/unpack.sh $(PEERS_ROOT) $(call packages_of,peers)

# ---- BLAS ----------------------------------------------------------------------------------------
# sgemm and sgemv; every other name is that of the library that it is linked to. It stays loaded: threads free their
# primitives when they end.
BLAS_BEHIND ?= openblas
COMPAT_BLAS_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard compat/blas/*.c))
COMPAT_BLAS := $(BUILD)/compat/lib/libblas.so.3
COMPAT_LIBS += $(COMPAT_BLAS)
$(COMPAT_BLAS): $(COMPAT_BLAS_OBJ) $(LIB_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libblas.so.3 -Wl,-z,nodelete -Wl,--exclude-libs,ALL -o $@ $^ \
	    -Wl,--no-as-needed -l$(BLAS_BEHIND) -Wl,--as-needed $(LIBS)

# The test is a program that is linked to it as a user's is, with a report of wrong arguments of its own: nothing of the
# library is in it, and no allocation of it fails on purpose.
BLAS_TEST := $(BUILD)/tests/compat/blas
$(BLAS_TEST): private ALL_LDFLAGS += -Wl,-rpath,'$$ORIGIN/../../compat/lib' -Wl,--export-dynamic-symbol=xerbla_
$(BLAS_TEST): $(BLAS_TEST).o $(addprefix $(BUILD)/tests/support/,capture.o guard.o) $(COMPAT_BLAS)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ -l$(BLAS_BEHIND) -lcmocka $(LIBS)

# ---- oneDNN --------------------------------------------------------------------------------------
# oneDNN's C interface. Programs look for the number that they were linked with: 3.6 is Debian 13's, 3 oneDNN's own.
ONEDNN_SOVERSION := 3.6
ONEDNN_SO := $(BUILD)/compat/lib/libdnnl.so.$(ONEDNN_SOVERSION)
COMPAT_LIBS += $(ONEDNN_SO)
ONEDNN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard compat/onednn/*.c))
# oneDNN's header has prototypes, and programs include that one. Private, or the stamp of flags would take part in it.
$(ONEDNN_OBJ): private CFLAGS += -fopenmp -Wno-missing-prototypes
$(ONEDNN_SO): private LDFLAGS += -fopenmp
$(ONEDNN_SO): $(ONEDNN_OBJ) $(LIB_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(@F),-z,nodelete,--exclude-libs=ALL,-Bsymbolic,--no-undefined -o $@ $^ $(LIBS)
# Programs as a user links them, without what other tests wrap.
ONEDNN_TESTS := $(addprefix $(BUILD)/tests/compat/,onednn onednn_kinds onednn_lives imports calls)
# The folder of the compiler's OpenMP may have a C library too, which is not that of the loader.
GOMP_DIR = $(dir $(realpath $(shell $(CC) -print-file-name=libgomp.so)))
$(BUILD)/tests/compat/onednn_lives: $(BUILD)/tests/support/capture.o
$(ONEDNN_TESTS): %: %.o $(ONEDNN_SO)
	$(Q)ln -sf $(GOMP_DIR)libgomp.so.1 $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -Wl,-z,now,--disable-new-dtags,-rpath,'$$ORIGIN/../../compat/lib',-rpath,'$$ORIGIN' \
	    -o $@ $(filter %.o,$^) $(ONEDNN_SO) -lcmocka -lm

# No test of cmocka's: regions for the emulator's plugin.
compat-calls: $(BUILD)/tests/compat/calls build/tools/icount.so ## instructions of engines, streams and memories, at most 2000 a call
	$(Q)PYTHONPATH=tests/perf $(PYTHON) tests/compat/calls.py $< $(firstword $(EMULATOR))
.PHONY: compat-calls

# ---- both ----------------------------------------------------------------------------------------
# A program that opens and closes them.
$(BUILD)/tests/compat/unload.o: private CFLAGS += -DONEDNN_SOVERSION='"$(ONEDNN_SOVERSION)"'
$(BUILD)/tests/compat/unload: $(BUILD)/tests/compat/unload.o | $(COMPAT_LIBS)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka -lm
COMPAT_DIR = $(LIBDIR)/neoprene/compat
.PHONY: compat install-compat
compat: $(COMPAT_LIBS) ## other libraries' interfaces on Neoprene: libblas.so.3, libdnnl.so.3.6 (ONEDNN_SOVERSION=)
install-compat: $(COMPAT_LIBS) ## these into $PREFIX/lib/neoprene/compat, never over the system's (PREFIX, DESTDIR)
	install -d $(DESTDIR)$(COMPAT_DIR)
	install -m 755 $(COMPAT_LIBS) $(DESTDIR)$(COMPAT_DIR)

# What passes, what differs and what it costs, with the distribution's libraries and with ours. A row that has run is kept.
CLIENT_ROWS ?=
CLIENT_SANITIZERS := thread address,undefined
HOST_CXX ?= c++
.PHONY: check-clients check-clients-quick check-growth check-growth-natively check-programs check-programs-natively
check-clients: $(COMPAT_LIBS) build/tools/icount.so check-programs | clients ## an hour: PyTorch, numpy and ONNX Runtime on our libraries beside Debian's (CLIENT_ROWS=numpy,bert,…, DOCUMENT=docs/drop-in.md for its table)
	$(Q)$(PYTHON) tests/compat/clients.py --root $(CLIENTS_ROOT) --front $(BUILD)/compat/lib --out $(BUILD)/compat/clients.md \
	    $(if $(CLIENT_ROWS),--rows '$(CLIENT_ROWS)') $(if $(DOCUMENT),--document '$(DOCUMENT)')
	$(if $(CLIENT_ROWS),,$(Q)$(MAKE) --no-print-directory check-growth)
# A thousand passes of whole networks take days under the emulator, and minutes natively: with this machine's PyTorch and the
# portable build's library, whose code beside the kernels is the same.
GROWTH_ROWS := $(addprefix growth_,mobilenet_v2 efficientnet_b0 resnet50 vgg11 vgg11_pooled)
check-growth: ## memory over 1000 forward passes of torchvision's networks in each way, natively (250 MB to fetch)
	$(Q)ARCHITECTURE=$(NATIVE) compat/unpack.sh $(NATIVE_ROOT) $(call packages_of,networks)
	$(Q)$(MAKE) --no-print-directory check-growth-natively TARGET=portable
check-growth-natively: $(COMPAT_LIBS)
	$(Q)$(PYTHON) tests/compat/clients.py --root $(NATIVE_ROOT) --front $(BUILD)/compat/lib --out $(BUILD)/compat/growth.md \
	    --rows '$(GROWTH_ROWS)' $(if $(DOCUMENT),--document '$(DOCUMENT)')
# Programs of oneDNN's C++ interface; one natively under sanitizers too, with the portable build's library.
check-programs: $(ONEDNN_SO) | clients
	$(Q)tests/compat/programs.sh $(CLIENTS_ROOT) $(PEER_CXX) $(dir $(ONEDNN_SO))
	$(Q)for san in $(CLIENT_SANITIZERS); do \
	    $(MAKE) --no-print-directory check-programs-natively TARGET=portable SAN=$$san || exit 1; done
check-programs-natively: $(ONEDNN_SO)
	$(Q)tests/compat/programs.sh $(CLIENTS_ROOT) '$(HOST_CXX)' $(dir $(ONEDNN_SO)) '$(SAN)'
check-clients-quick: ## the part of check-clients that takes a minute, where `make clients` has been run
	$(Q)$(MAKE) --no-print-directory check-clients CLIENT_ROWS=numpy CLIENT_SANITIZERS=
