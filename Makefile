# Neoprene. `make help` lists the targets and the variables.
#
# One Makefile for three kinds of build:
#   TARGET=aarch64   native on AArch64; elsewhere the Debian cross compiler, programs run by qemu-aarch64
#   TARGET=portable  reference kernels only, any CPU, runs natively (sanitizers, valgrind, other machines)
-include config.mk

VERSION := $(shell sed -n 's/^\#define NEO_VERSION_[MP][A-Z]* //p' include/neoprene/types.h | paste -sd.)
SOVERSION := 0
HOST := $(shell uname -m)
IS_ARM_HOST := $(filter aarch64 arm64,$(HOST))
TARGET ?= $(if $(IS_ARM_HOST)$(filter x86_64,$(HOST)),aarch64,portable)
ifeq ($(filter $(TARGET),aarch64 portable),)
$(error TARGET is '$(TARGET)'; it can be aarch64 or portable)
endif

# ---- tools ---------------------------------------------------------------------------------------
CROSS := $(if $(filter aarch64,$(TARGET)),$(if $(IS_ARM_HOST),,yes))
CROSS_COMPILE ?= $(if $(CROSS),aarch64-linux-gnu-)
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
IS_CLANG := $(findstring clang,$(notdir $(firstword $(CC))))
OBJCOPY ?= $(CROSS_COMPILE)objcopy
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
NM ?= $(CROSS_COMPILE)nm
OBJDUMP ?= $(CROSS_COMPILE)objdump
READELF ?= $(CROSS_COMPILE)readelf
# Return addresses are signed by an algorithm of the emulator's own: the architecture's takes four times as long
# as all that tests with many small functions do.
EMULATOR ?= $(if $(CROSS),qemu-aarch64 -cpu $(EMULATED_CPU:max=max,pauth-impdef=on))
EMULATED_CPU ?= max
PYTHON ?= python3
comma := ,
empty :=
space := $(empty) $(empty)

# ---- flags ---------------------------------------------------------------------------------------
# One build folder for every set of flags: the names come first, so that two kinds never share objects.
CC_NAME := $(if $(IS_CLANG),clang,gcc)
BUILD := build/$(TARGET)-$(CC_NAME)$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(filter 1,$(DEBUG)),-debug)
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
    -Wundef -Wvla -Wcast-qual -Wcast-align -Wwrite-strings -Wdouble-promotion
WERROR ?= $(if $(CI),-Werror)
# Sanitizers see as much with -O1, and compile in three quarters of the time.
OPT ?= $(if $(filter 1,$(DEBUG)),-O0,$(if $(SAN),-O1,-O2))
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
TARGET_FLAGS := $(if $(CROSS),$(if $(IS_CLANG),--target=aarch64-linux-gnu)) \
    $(if $(filter portable,$(TARGET)),-DNEO_PORTABLE=1,-DNEO_PORTABLE=0)
# Debian's musl has no headers of the kernel: they are where those of the other C library are.
MUSL_FLAGS := $(if $(findstring musl,$(notdir $(CC))),$(if $(CROSS),-idirafter /usr/aarch64-linux-gnu/include) -idirafter /usr/include -idirafter /usr/include/$(HOST)-linux-gnu)
# Objects of sanitizers are large, and linking reads them: lines of the source are in them, variables are not.
CFLAGS ?= $(if $(SAN),-g1,-g)
# What makes mistakes harder to exploit (tests/hardening.sh). On AArch64 all of the library has marks
# where calls by address may go (BTI), and functions that call others sign their return addresses (PAC), but for
# kernels and what every call of a small primitive goes through (docs/limits.md). Checks of the stack and of
# copies are where files, the environment and other processes are read. HARDEN=1 has all of it everywhere, and
# small calls then take up to 12 % more instructions.
CHECKS := $(if $(SAN)$(filter 1,$(DEBUG)),,-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
IS_ARM := $(if $(filter aarch64,$(TARGET)),yes)
SIGNS := $(if $(IS_ARM),-mbranch-protection=standard)
MARKS := $(if $(IS_ARM),-mbranch-protection=bti)
HARDENING := $(if $(filter 1,$(HARDEN)),$(CHECKS) $(SIGNS))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(HARDENING) -ffp-contract=off -fPIC -fvisibility=hidden \
    -ffunction-sections -fdata-sections -pthread -MMD -MP \
    $(WARNINGS) $(WERROR) $(TARGET_FLAGS) $(SAN_FLAGS) -Iinclude -I. $(MUSL_FLAGS) $(FOLDER_FLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(TARGET_FLAGS) $(SAN_FLAGS) -pthread -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
LIBS := -lm -ldl
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(patsubst $(BUILD)/%,%,$(2));)

# ---- sources: a kernel file's last word is its instruction set -------------------------------------
ISA_neon :=
ISA_fp16 := -march=armv8.2-a+fp16
ISA_fhm := -march=armv8.2-a+fp16+fp16fml
ISA_dotprod := -march=armv8.2-a+dotprod
ISA_bf16 := -march=armv8.2-a+fp16+bf16
ISA_i8mm := -march=armv8.2-a+fp16+dotprod+i8mm
ISA_ref := -fno-tree-vectorize
ISA_generic := -O3 -ffp-contract=fast
ARM_ISAS := neon fp16 fhm dotprod bf16 i8mm
sources_in = $(sort $(shell find $(1) -name '*.[cS]'))
KERNELS_ALL := $(call sources_in,kernels)
KERNELS_ARM := $(foreach isa,$(ARM_ISAS),$(filter %_$(isa).c %_$(isa).S %/$(isa).c %/$(isa).S,$(KERNELS_ALL)))
KERNELS_PORTABLE := $(filter %/generic.c,$(KERNELS_ALL))
KERNELS := $(filter-out $(if $(filter portable,$(TARGET)),$(KERNELS_ARM),$(KERNELS_PORTABLE)),$(KERNELS_ALL))
LIB_SRC := $(call sources_in,arch src) $(KERNELS)
LIB_OBJ := $(addprefix $(BUILD)/,$(addsuffix .o,$(basename $(LIB_SRC))))
BENCHDNN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard benchdnn/*.c benchdnn/*/*.c))
TOOLS := $(patsubst tools/%.c,$(BUILD)/tools/%,$(wildcard tools/*.c))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
LIB_A := $(BUILD)/libneoprene.a
LIB_SO := $(BUILD)/libneoprene.so.$(VERSION)
INTERNAL_A := $(BUILD)/libneoprene-internal.a

.PHONY: all help packages
.SECONDARY:
all: $(LIB_A) $(LIB_SO) $(if $(BENCHDNN_OBJ),$(BUILD)/benchdnn/benchdnn) $(TOOLS) $(EXAMPLES) ## libraries, benchdnn, tools, examples

help: ## this text
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile $(RULES) | expand -t 24
	@echo '  TARGET=aarch64|portable  CC=gcc|clang  SAN=address,undefined|thread  V=1  DEBUG=1  WERROR=-Werror'
	@echo '  CROSS_COMPILE=  EMULATOR=  EMULATED_CPU=cortex-a53|neoverse-n1|max  PREFIX=  DESTDIR=  (or in config.mk)'

packages: ## install what is missing (Debian; DRY_RUN=1 only prints it)
	$(Q).ci/install-packages $(if $(DRY_RUN),--dry-run)

# ---- compile and link ----------------------------------------------------------------------------
# The stamp holds the whole command, and flags of folders, which are not CFLAGS, so that a user's CFLAGS
# leave them alone; it changes only when the flags do, and then everything rebuilds.
FLAGS = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(MARKS) $(SIGNS) $(UNSIGNED) $(CHECKS) $(SRC_FLAGS) $(SMALL)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
.PHONY: FORCE

isa_of = $(ISA_$(lastword $(subst _, ,$(basename $(notdir $(1))))))
$(BUILD)/kernels/%.o: kernels/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(call isa_of,$<) -c -o $@ $<
$(BUILD)/kernels/%.o: kernels/%.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(ALL_CFLAGS) $(call isa_of,$<) -Wno-variadic-macros -c -o $@ $<
# Descriptors are compared by pairs of words, which clang would put into vectors and take out of them again.
SRC_FLAGS := -fno-align-functions $(if $(IS_CLANG),-fno-slp-vectorize)
$(BUILD)/src/%.o: private FOLDER_FLAGS += $(SRC_FLAGS)
$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Callers may have small stacks: a life of primitives fits into 64 KiB (tests/threading/stack.c), and no
# frame is above 2 KiB, but those of functions that have a line or a panel in the making.
frames_below = $(if $(SAN)$(filter 1,$(DEBUG) $(HARDEN)),,-Wframe-larger-than=$(1))
LIBRARY_FOLDERS := arch src kernels
$(LIBRARY_FOLDERS:%=$(BUILD)/%/%.o): private FOLDER_FLAGS += $(SIGNS) $(call frames_below,2048)
HAVE_LINES := $(addprefix src/,binary/binary convolution/direct/indirect_run \
    convolution/gemm/gemm convolution/gemm/typed_gather convolution/gemm/typed_patches convolution/nested/transposed_run deconvolution/columns \
    gemm/results gemm/ways/typed lines/copy lines/line lines/map lrn/lrn matmul/blocks/decompress matmul/direct/run \
    normalization/channels normalization/layer pooling/windows pooling/winners prelu/prelu \
    quantization/quantization reduction/reduction reorder/block_weights resampling/resampling softmax/softmax sum/sum) \
    $(addprefix kernels/depthwise/f32/,3x3_lines_neon 3x3_tiles_neon neon rows/row_neon)
$(HAVE_LINES:%=$(BUILD)/%.o): private FOLDER_FLAGS += $(call frames_below,16384)
UNSIGNED := $(if $(filter 1,$(HARDEN)),,kernels/% $(addprefix src/primitive/,apart by_size implementation_scratch primitive primitive_execute))
$(UNSIGNED:%=$(BUILD)/%.o): private FOLDER_FLAGS += $(MARKS)
CHECKED := arch src/core src/memory src/network src/packed src/tensor src/threading
$(CHECKED:%=$(BUILD)/%/%.o): private FOLDER_FLAGS += $(CHECKS)

# What runs while primitives are described, chosen and planned, files are kept and memory is reported, is compiled for
# size: a tenth of its machine code goes. What executes is not among it.
SMALL_FOLDERS := arch $(addprefix src/,memory/kinds memory/plan memory/shapes packed/file)
SMALL := $(addprefix src/,convolution/check convolution/convolution convolution/create convolution/layouts \
    convolution/nested/fused convolution/suppose convolution/trim convolution/types \
    $(addprefix convolution/depthwise/,depthwise pieces plan stay tiles typed) \
    $(addprefix convolution/,direct/indirect direct/rows nested/dilated) \
    $(addprefix convolution/winograd/,blocking cut threads traffic winograd) \
    core/env core/log deconvolution/deconvolution gemm/estimate gemm/fetching gemm/l1 gemm/order gemm/plan gemm/reciprocal \
    $(addprefix matmul/,check direct/columns direct/direct matmul types) \
    $(addprefix memory/,blocks/pool_report blocks/usage_report domain_report domain_source history limits limits_machine) \
    $(addprefix network/,dependency dependency_analysis finalize graph network plan poison refuse) \
    $(addprefix tensor/,block_layout depthwise_layout descriptor_make typed_layout winograd) \
    $(addprefix primitive/,attributes budget concrete cost engine inspect post_ops primitive_desc problem) \
    primitive/problem_check primitive/quantization primitive/selection primitive/types reorder/block_formats)
$(SMALL_FOLDERS:%=$(BUILD)/%/%.o) $(SMALL:%=$(BUILD)/%.o): private OPT := $(if $(filter -O2,$(OPT)),-Os,$(OPT))
# Where weights are found by their content it reads all of them at each call: loops over the sums are unrolled, so that
# they stay in registers; what else the hash's header has is not copied to wherever it is called.
$(BUILD)/src/packed/content_hash.o: private OPT := $(OPT) $(if $(findstring clang,$(CC)),,-fpeel-loops) -DXXH_NO_INLINE_HINTS=1

# Hidden symbols become local in the static library too, so that only neo_* can clash with a user's. Sections
# stay apart, or functions of one name in two files would be one that a program takes whole.
APART := -Wl$(subst .,$(comma)--unique=.,.text*.rodata*.data*.bss*)
$(BUILD)/neoprene.o: $(LIB_OBJ)
	$(call say,LD,$@)$(CC) $(TARGET_FLAGS) -nostdlib -r '$(APART)' -o $@ $^ && $(OBJCOPY) --localize-hidden $@
$(LIB_A): $(BUILD)/neoprene.o
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
$(INTERNAL_A): $(LIB_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
# What only tests call is in no library that others link.
EXPORTS := src/neoprene.map
$(LIB_SO): $(LIB_OBJ) $(EXPORTS)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,--gc-sections -Wl,-soname,libneoprene.so.$(SOVERSION) \
	    -Wl,--version-script=$(EXPORTS) -o $@ $(LIB_OBJ) $(LIBS)

# benchdnn, tools and examples see what users see.
$(BUILD)/benchdnn/benchdnn: $(BENCHDNN_OBJ) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lopenblas $(LIBS) && ln -sfn $(CURDIR)/benchdnn/inputs $(@D)/inputs
$(BUILD)/tools/%: $(BUILD)/tools/%.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
EXAMPLE_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard examples/support/*.c))
$(BUILD)/examples/%: $(BUILD)/examples/%.o $(EXAMPLE_SUPPORT) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# ---- tests, benches, analysis: rules beside what they build -----------------------------------------
# In this order: a list of prerequisites is read where it stands, so what it names comes before it.
RULES := compat/compat.mk tests/tests.mk tests/fuzz/fuzz.mk tests/bench/bench.mk tests/perf/perf.mk tests/sweep/sweep.mk benchdnn/benchdnn.mk tests/analysis.mk
include $(RULES)

# ---- install -------------------------------------------------------------------------------------
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

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
